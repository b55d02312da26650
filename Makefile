# Two commands matter: `make demo` and `make test`. Each sets up what it needs in .venv.
# Paths are relative throughout, so a folder with spaces in its name works.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

UV_VERSION := 0.13.9
BIN := .venv/bin
UV := env -u VIRTUAL_ENV -u UV_PYTHON UV_PROJECT_ENVIRONMENT=.venv UV_NO_PROGRESS=1 $(BIN)/uv
RUN := $(BIN)/python -m

# For the targets that deploy: `make deploy STAGE=prod CONTEXT="-c dreaming:egress=nat"`.
STAGE ?= dev
CONTEXT ?=
CDK := $(RUN) infra.cdk

# The first Python 3.11 or newer; `make PYTHON=/path/to/python3` names another.
PYTHON ?= $(shell for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$candidate" && break; done)

# A virtual environment that was copied along with the folder points to the old place: build it anew.
MOVED := $(shell test ! -f .venv/.folder || test "$$(cat .venv/.folder)" = "$$(pwd -P)" || echo moved)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: .venv/.setup-test ## Install the program and the development tools into .venv

.PHONY: demo
demo: .venv/.setup-local ## Consolidate this repository's history and a sample month of notes
	@$(BIN)/dream demo

.PHONY: test
test: lint ## Check style, types and architecture, then run all tests (the stack's where it is built)
	@test -d build/layers/host -a -d infra/node_modules/aws-cdk \
		|| echo "Without tests/stack: there is nothing to deploy yet. 'make stack-test' builds it and runs them."
	@$(RUN) pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

.PHONY: stack-test
stack-test: layers cdk ## Deploy the stack to an emulator of AWS, drain slices through it, take it down
	@$(RUN) pytest tests/stack $(ARGS)

.PHONY: browser-test
browser-test: setup ## Drive the page with the Chromium of this machine, or DREAMING_TEST_CHROMIUM=/path; takes minutes
	@DREAMING_TEST_CHROMIUM=$${DREAMING_TEST_CHROMIUM:-found} $(RUN) pytest tests/browser $(ARGS)

.PHONY: faults
faults: setup ## Fail and kill every pass at each of its points; takes about half an hour
	@DREAMING_FAULT_STRIDE=1 $(RUN) pytest tests/faults/test_every_point.py tests/faults/test_database_faults.py tests/database/decay/test_torn_states.py $(ARGS)

.PHONY: soak
soak: setup ## Load all passes with NOTES (60000) notes while a worker is killed every few seconds; takes about an hour
	@DREAMING_SOAK_NOTES=$(or $(NOTES),60000) $(RUN) pytest tests/soak $(ARGS)

.PHONY: bench-cold-start
bench-cold-start: setup ## Measure what importing each handler costs, into build/bench and docs/cold-start.md
	@$(RUN) tests.benchmarks.cold_start $(ARGS)

.PHONY: bench-decay
bench-decay: setup ## Measure the decay pass among 1,000,000 beliefs and 2,000,000 relationships; takes about 10 minutes
	@$(RUN) tests.benchmarks.decay $(ARGS)

.PHONY: bench-recall
bench-recall: setup ## Measure recall and capture among 200,000 conversations; takes about 15 minutes
	@$(RUN) tests.benchmarks.recall $(ARGS)

.PHONY: bench
bench: setup ## Run every benchmark at three sizes, into docs/benchmarks.md; takes about 20 minutes
	@$(RUN) tests.benchmarks.suite $(ARGS)

.PHONY: bench-peers
bench-peers: setup ## Compare with mem0 and Hindsight on the same notes, into docs/peers.md; takes about 20 minutes
	@$(RUN) tests.peers.compare --page $(ARGS)

.PHONY: bench-contradictions
bench-contradictions: setup ## Measure what examining beliefs costs among 1,000 to 25,000; takes some minutes
	@$(RUN) tests.benchmarks.contradictions $(ARGS)

.PHONY: bench-ingest
bench-ingest: setup ## Measure how fast notes come in, into build/bench
	@$(RUN) tests.benchmarks.ingest $(ARGS)

.PHONY: bench-consolidation
bench-consolidation: setup ## Measure how fast notes become beliefs, and for how many calls, into build/bench
	@$(RUN) tests.benchmarks.consolidation $(ARGS)

.PHONY: bench-growth
bench-growth: setup ## Measure what a note costs among 1,000 to 100,000 beliefs; takes about 5 minutes
	@$(RUN) tests.benchmarks.growth $(ARGS)

.PHONY: bench-status
bench-status: setup ## Measure the status among 1,000 and 1,000,000 notes, into build/bench
	@$(RUN) tests.benchmarks.status $(ARGS)

.PHONY: fuzz
fuzz: setup ## Try hostile input on every parser, connector and route, MINUTES (10) each
	@DREAMING_FUZZ_MINUTES=$(or $(MINUTES),10) $(RUN) pytest tests/fuzz -m fuzz -s $(ARGS)

.PHONY: test-postgres16
test-postgres16: setup ## Run the tests that use a database on PostgreSQL 16
	@DREAMING_TEST_POSTGRES=16 $(RUN) pytest -n auto tests/database tests/faults tests/functions $(ARGS)

.PHONY: lint
lint: setup ## Check style, types and architecture
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy
	@$(BIN)/lint-imports

.PHONY: format
format: setup ## Format the code and mend what ruff can mend
	@$(RUN) ruff check --fix-only --quiet .
	@$(RUN) ruff format .

.PHONY: docs
docs: setup ## Write the pages of docs/ that come from the code
	@$(RUN) dreaming.settings.reference > docs/settings.md
	@$(RUN) dreaming.api.openapi > docs/openapi.json
	@$(RUN) infra.cost
	@$(RUN) tests.documents.reference
	@$(RUN) tests.documents.plots
	@$(RUN) tests.benchmarks.scale

.PHONY: layers
layers: setup ## Build the dependencies layer for Lambda and for this machine, check it, show sizes
	@$(RUN) layers.dependencies.build

.PHONY: certificates
certificates: setup ## Fetch the certificate authorities of Amazon RDS for the layer
	@$(RUN) layers.dependencies.certificates

.PHONY: cdk
cdk: setup ## Install the CDK command line into infra/node_modules
	@$(CDK) install

.PHONY: synth
synth: layers cdk ## Write the templates of STAGE (dev) into infra/cdk.out
	@$(CDK) synth --quiet -c dreaming:stage=$(STAGE) $(CONTEXT)

.PHONY: deploy
deploy: certificates layers cdk ## Deploy STAGE (dev) into the account of your AWS credentials
	@$(CDK) deploy --all -c dreaming:stage=$(STAGE) $(CONTEXT)

.PHONY: clean
clean: ## Remove everything that make created
	rm -rf .venv build dist infra/cdk.out infra/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: moved
moved:

.venv/.setup-test: .venv/.uv pyproject.toml uv.lock
	@$(UV) sync --quiet --frozen --extra local --extra test --extra infra
	@touch .venv/.setup-local $@

# Inexact: a demo after a test run must not take the development tools away.
.venv/.setup-local: .venv/.uv pyproject.toml uv.lock
	@echo "Setting up .venv; the first time this downloads about 150 MB."
	@$(UV) sync --quiet --frozen --inexact --extra local
	@touch $@

# Where Python comes without ensurepip (Debian), its own pip installs into the new environment.
.venv/.uv: $(MOVED)
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer found. Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "$(PYTHON) does not run as Python 3.11 or newer. Name one that does: make PYTHON=/path/to/python3" >&2; exit 1; }
	@test -z "$(MOVED)" || rm -rf .venv
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear --without-pip .venv
	@if $(RUN) pip --version >/dev/null 2>&1; then $(RUN) pip install --quiet uv==$(UV_VERSION); \
		else "$(PYTHON)" -m pip --python $(BIN)/python install --quiet uv==$(UV_VERSION); fi
	@pwd -P > .venv/.folder
	@touch $@
