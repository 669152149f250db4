"""What contents say is worked out once, whatever comes in between, and what is remembered stays small."""

import polars as pl
import pytest

from aggregator.memory import Memory


def contents(*numbers: int, tenant: str = "a") -> pl.DataFrame:
    return pl.DataFrame({"tenant": [tenant] * len(numbers), "hash": numbers, "name": [str(n) for n in numbers]}).cast(
        {"hash": pl.UInt64}
    )


class Worker:
    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []

    def __call__(self, some: pl.DataFrame) -> pl.DataFrame:
        self.done += some.select("tenant", "hash").rows()
        return some.with_columns(said=pl.col("tenant") + pl.col("name"))


def test_a_content_is_worked_out_once_and_given_in_the_order_asked_for():
    memory, work = Memory(), Worker()
    assert memory.recall(contents(1, 2), work)["said"].to_list() == ["a1", "a2"]
    assert memory.recall(contents(3, 2, 1), work)["said"].to_list() == ["a3", "a2", "a1"]
    assert memory.recall(contents(1, 3), work).rows() == [("a1",), ("a3",)]
    assert work.done == [("a", 1), ("a", 2), ("a", 3)]


def test_equal_numbers_do_not_join_tenants():
    memory, work = Memory(), Worker()
    memory.recall(contents(1), work)
    assert memory.recall(contents(1, tenant="b"), work)["said"].to_list() == ["b1"]


@pytest.mark.parametrize(("asked", "again"), [((4, 5, 6), 0), ((4, 5, 6, 7, 8, 9), 6)])
def test_beyond_the_limit_what_came_last_is_remembered_if_it_fits(asked, again):
    memory, work = Memory(most=5), Worker()
    memory.recall(contents(1, 2, 3), work)
    assert memory.recall(contents(*asked), work)["said"].to_list() == [f"a{n}" for n in asked]
    work.done.clear()
    memory.recall(contents(*asked), work)
    assert len(work.done) == again


def test_nothing_to_work_out():
    assert Memory().recall(contents(), Worker()).height == 0
