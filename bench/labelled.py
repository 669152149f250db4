"""Documents of a labelled set, ingested into a database of their own."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nexus.ports.documents import IngestRequest
from nexus.settings import load_settings
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.pool import Database
from nexus.wiring.knowledge import ingestor
from nexus.wiring.runtime import Runtime


@contextmanager
def labelled(file: Path, **settings: Any) -> Iterator[tuple[dict[str, Any], Runtime]]:
    """(the set, a runtime over its `documents`: path -> text), passages and vectors made; gone afterwards."""
    data = json.loads(file.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        url = server.start()
        try:
            migrate(url)
            root = Path(folder).resolve() / "docs"
            for name, text in data["documents"].items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            runtime = Runtime(load_settings({"data": folder, "docs": {"roots": [root]}, **settings}), Database(url))
            ingestor(runtime, embed_wait_s=600).ingest(IngestRequest(root))
            yield data, runtime
            runtime.close()
        finally:
            server.stop()
