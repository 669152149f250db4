"""Watching: which changes matter, and what reaches the ingestor from real files."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from knowledge.uploads import namespace_folder
from knowledge.watch import follow, settled

ROOT = Path("/docs")


def paths(*names: str) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in settled([ROOT / name for name in names], [ROOT])]


def test_temporary_files_and_folders_of_tools_do_not_count():
    assert (
        paths("a.md~", ".a.md.swp", ".#a.md", "4913", "#a.md#", "a.md.tmp", ".git/index", "node_modules/x/a.md") == []
    )


def test_a_save_by_rename_is_one_change_of_its_target():
    assert paths("a.md.tmp", "a.md", "a.md") == ["a.md"]


def test_what_lies_below_another_change_goes_with_it():
    assert paths("new", "new/a.md", "new/sub/b.md", "newer/c.md") == ["new", "newer/c.md"]


def test_other_folders_do_not_count():
    assert settled([Path("/elsewhere/a.md")], [ROOT]) == []


def test_upload_folders_never_meet():
    folders = {
        namespace_folder(ROOT, tenant, namespace)
        for tenant in ("a", "A b", "../x", "한글")
        for namespace in ("n", "a/../n", "..", "")
    }
    assert len(folders) == 16 and all(ROOT in folder.parents and ".." not in folder.parts for folder in folders)


def test_changes_of_real_files_arrive_also_in_new_folders(tmp_path):
    root = tmp_path.resolve()
    stop, seen, settles = threading.Event(), set(), []
    thread = threading.Thread(target=follow, args=([root], stop, seen.add, lambda: settles.append(1)), daemon=True)
    thread.start()
    deadline = time.monotonic() + 120

    def until(condition, change):
        """Repeat a change until it is seen: when the watcher is ready is not known."""
        while not condition() and time.monotonic() < deadline:
            change()
            time.sleep(0.5)
        assert condition()

    until(lambda: root / "a.md" in seen, lambda: (root / "a.md").write_text(str(time.monotonic())))
    (root / "new").mkdir()

    def inside():
        (root / "new" / "b.md").write_text(str(time.monotonic()))

    until(lambda: root / "new" in seen or root / "new" / "b.md" in seen, inside)
    seen.clear()
    (root / "a.md").unlink()
    until(lambda: root / "a.md" in seen, lambda: None)
    stop.set()
    thread.join(timeout=120)
    assert not thread.is_alive() and settles
