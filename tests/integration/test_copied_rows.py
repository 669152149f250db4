"""Frames in the form of binary COPY: PostgreSQL reads what went in."""

from __future__ import annotations

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nexus.store.copied import copied

SCHEMA = {"small": pl.Int16, "large": pl.Int64, "said": pl.String, "raw": pl.Binary}
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=40)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.integers(-(2**15), 2**15 - 1),
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | TEXT,
            st.none() | st.binary(max_size=80),
        ),
        max_size=8,
    ),
    skipped=st.integers(0, 3),
)
def test_the_database_reads_what_went_in(database, rows, skipped):
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row").slice(skipped)
    with database.connection() as connection:
        connection.execute(
            "CREATE TEMPORARY TABLE taken (n serial, small smallint, large bigint, said text, raw bytea) ON COMMIT DROP"
        )
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY taken (small, large, said, raw) FROM STDIN (FORMAT binary)") as copy,
        ):
            for piece in copied(frame):
                copy.write(piece)
        assert connection.execute("SELECT small, large, said, raw FROM taken ORDER BY n").fetchall() == frame.rows()


def test_a_table_of_many_pieces_and_a_value_that_is_larger_than_a_piece(database):
    frame = pl.DataFrame(
        {"n": range(30_000), "raw": [b"x" * (n % 97) for n in range(29_999)] + [bytes(3 << 20)]},
        schema={"n": pl.Int64, "raw": pl.Binary},
    )
    with database.connection() as connection:
        connection.execute("CREATE TEMPORARY TABLE taken (n bigint, raw bytea) ON COMMIT DROP")
        with connection.cursor() as cursor, cursor.copy("COPY taken (n, raw) FROM STDIN (FORMAT binary)") as copy:
            for piece in copied(frame):
                copy.write(piece)
        assert connection.execute("SELECT n, raw FROM taken ORDER BY n").fetchall() == frame.rows()
