"""`nexus serve --role ingest`: the role keeps the index like the folders."""

from __future__ import annotations

import os
import subprocess

from nexus_up import NEXUS
from waiting import PATIENCE_S, until

from nexus.model.document import Classification
from nexus.store.documents import list_documents


def test_the_role_reads_its_roots_and_follows_them(tmp_path, database, database_url):
    root = tmp_path / "docs"
    root.mkdir()
    (root / "old.md").write_text("# Old\n\nText.\n", encoding="utf-8")

    def titles() -> set[str]:
        with database.connection() as connection:
            return {row.title for row in list_documents(connection, "default", Classification.INTERNAL)}

    environment = {
        "NEXUS_DATABASE__URL": database_url,
        "NEXUS_DOCS__ROOTS": f'["{root}"]',
        "NEXUS_KNOWLEDGE__EMBEDDER": "none",
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(NEXUS), "serve", "--role", "ingest", "--data", str(tmp_path / "data")],
            env=os.environ | environment,
            stdout=log,
            stderr=log,
        )
    try:
        until(lambda: titles() == {"Old"})
        (root / "new.md").write_text("# New\n\nText.\n", encoding="utf-8")
        until(lambda: titles() == {"Old", "New"})
        (root / "old.md").unlink()
        until(lambda: titles() == {"New"})
        # What is written and deleted before changes settle was never there.
        brief = root / "brief.md"
        brief.write_text("# Brief\n\nText.\n", encoding="utf-8")
        brief.unlink()
        (root / "last.md").write_text("# Last\n\nText.\n", encoding="utf-8")
        until(lambda: titles() == {"New", "Last"})
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
