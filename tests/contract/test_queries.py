"""Every named query prepares against the migrated schema."""

from __future__ import annotations

import re

import psycopg
import pytest

from nexus.store.queries import areas, queries


@pytest.mark.parametrize("area", areas())
def test_every_query_prepares(area: str, database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        for name, sql in queries(area).items():
            numbers: dict[str, int] = {}
            text = re.sub(r"%\((\w+)\)s", lambda m: f"${numbers.setdefault(m[1], len(numbers) + 1)}", sql).replace(
                "%%", "%"
            )
            if sql.startswith("COPY"):
                # COPY cannot be prepared: its columns can be read instead.
                text = re.sub(r"^COPY (\w+) \((.*?)\).*", r"SELECT \2 FROM \1", sql, flags=re.DOTALL)
            if sql.startswith(("TRUNCATE", "CREATE", "LOCK", "SET")):
                # Utility statements cannot be prepared either: run in a transaction that is taken back.
                with connection.transaction(force_rollback=True):
                    connection.execute(sql.encode())
                continue
            try:
                connection.execute(f"PREPARE q AS {text}".encode())
            except psycopg.Error as error:
                pytest.fail(f"{area}.{name}: {error}")
            connection.execute("DEALLOCATE q")
