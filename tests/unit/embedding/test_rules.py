"""When a refused text is tried again, means of vectors, and their written form."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreaming.beliefs.vectors.rules import check_dimension, read, storable, written
from dreaming.errors import InvalidInput, Misconfigured
from dreaming.passes.embedding.rules import mean_direction, retry_at

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_a_refused_text_waits_longer_each_time_and_then_for_good() -> None:
    assert [retry_at(attempts, NOON) for attempts in (1, 2, 3)] == [
        NOON + timedelta(hours=1),
        NOON + timedelta(hours=6),
        None,
    ]


def test_the_mean_of_one_part_is_the_part() -> None:
    part = np.array([[0.6, 0.8]], dtype=np.float32)
    mean = mean_direction(part)
    assert mean is not None
    assert np.allclose(mean, part[0])
    assert mean.dtype == np.float32


def test_the_mean_of_several_parts_lies_between_them_at_unit_length() -> None:
    mean = mean_direction(np.array([[1, 0], [0, 1]], dtype=np.float32))
    assert mean is not None
    assert np.allclose(mean, [0.5**0.5, 0.5**0.5])


@pytest.mark.parametrize("rows", [[[1, 0], [-1, 0]], [[float("nan"), 0]], [[0, 0]]])
def test_without_a_direction_there_is_no_mean(rows: list[list[float]]) -> None:
    assert mean_direction(np.array(rows, dtype=np.float32)) is None


@given(st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=50).filter(any))
def test_a_vector_survives_its_written_form_to_the_bit(numbers: list[float]) -> None:
    vector = np.array(numbers, dtype=np.float32)
    if not vector.astype(np.float16).any():
        return
    back = np.array(written(vector)[1:-1].split(","), dtype=np.float32).astype(np.float16)
    assert np.array_equal(back, storable(vector))


def test_the_binary_form_is_read_without_its_head() -> None:
    numbers = np.array([0.5, -0.25], dtype=">f2")
    assert read(b"\x00\x02\x00\x00" + numbers.tobytes()).tolist() == [0.5, -0.25]


@pytest.mark.parametrize("shape", [(0,), (4_001,), (2, 2), ()])
def test_what_is_no_row_of_a_usable_length_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="shape"):
        storable(np.ones(shape, dtype=np.float32))


def test_a_wrong_dimension_names_both_numbers() -> None:
    check_dimension(8, 8, "m")
    with pytest.raises(Misconfigured, match=r"12 dimensions.* have 8"):
        check_dimension(12, 8, "m")
