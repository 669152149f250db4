"""One file's bytes to what is stored of it: level, passages, terms, and what is quarantined. Pure but for the readers' libraries."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from knowledge.classify import PathRule, classify, path_levels
from knowledge.collect import Found, suffix_of
from knowledge.detectors._shape import Detector
from knowledge.front_matter import front_matter, text_value
from knowledge.language import language_of, passage_language
from knowledge.passages import Chunk, chunk
from knowledge.scanner import Secret, scan
from knowledge.sections import MAX_HEADING, Syntax, heading_text
from knowledge.texts._shape import TextReader
from knowledge.tokens import Analyzer
from nexus.errors import MalformedDocument
from nexus.model.document import Classification, DocumentStatus, Problem, Tier
from nexus.store.documents import DocumentRow, QuarantineRow
from nexus.store.passages import NewPassage

# Bumped when the same bytes give other rows: every document is then indexed anew.
VERSION = "6"
MASK = "█"
# Letters and digits of a secret that a heading is looked through for: fewer are in words, too.
SHORTEST_PART = 6
_TYPES = (
    "adr",
    "rfc",
    "runbook",
    "design",
    "plan",
    "spec",
    "howto",
    "guide",
    "policy",
    "postmortem",
    "reference",
    "release",
    "changelog",
)


@dataclass(frozen=True, slots=True)
class Options:
    """How documents become passages."""

    size: int
    overlap: int
    rules: tuple[PathRule, ...]
    readers: Mapping[str, TextReader]
    detectors: tuple[Detector, ...]
    analyzer: Analyzer


@dataclass(frozen=True, slots=True)
class Source:
    """A document to prepare: where it comes from, and what was asked of it."""

    found: Found
    tenant: str
    namespace: str
    asked: Classification | None
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prepared:
    """All rows of one document."""

    row: DocumentRow
    level: Classification
    passages: tuple[NewPassage, ...]
    quarantine: tuple[QuarantineRow, ...]
    problems: tuple[Problem, ...]


def document_rid(namespace: str, uri: str) -> str:
    """The identity of a document: namespace and canonical URI."""
    return "doc_" + hashlib.sha256(f"{namespace}\x1f{uri}".encode()).hexdigest()[:24]


def fingerprint(source: Source, data: bytes, options: Options) -> str:
    """A hash of all that decides what is indexed. Needs no reading of the document, so that an unchanged one costs one hash."""
    levels = [level.value for level in path_levels(source.found.relative, source.found.root, options.rules)]
    inputs = [
        VERSION,
        options.analyzer.name,
        options.size,
        options.overlap,
        sorted(detector.kind for detector in options.detectors),
        levels,
        source.asked.value if source.asked else "",
        source.metadata,
    ]
    head = json.dumps(inputs, sort_keys=True, default=str, ensure_ascii=False).encode()
    return hashlib.sha256(head + b"\x1f" + hashlib.sha256(data).digest()).hexdigest()


def prepare(source: Source, data: bytes, modified_at: datetime | None, now: datetime, options: Options) -> Prepared:
    """Everything about one document. MalformedDocument where it cannot be read at all."""
    found = source.found
    suffix = suffix_of(found.relative)
    reader = options.readers[suffix]
    try:
        extracted = reader.read(data)
    except MalformedDocument as error:
        raise MalformedDocument(f"read {found.relative}: {error}") from error
    text = extracted.text
    front, values, problem = front_matter(text) if reader.syntax is Syntax.MARKDOWN else (0, {}, "")
    stated = text_value(values, "classification", "security", "confidentiality")
    level = classify(path_levels(found.relative, found.root, options.rules), stated, source.asked)
    if problem and not values and "classification" in text[:front].lower():
        # It says something of its level that cannot be read.
        level = Classification.RESTRICTED
    chunks = chunk(text, reader.syntax, front, size=options.size, overlap=options.overlap)
    title = (
        text_value(values, "title")
        or _first_heading(chunks, text, front)
        or extracted.title
        or PurePosixPath(found.relative).stem
    )
    if suffix == ".pdf":
        title = extracted.title or PurePosixPath(found.relative).stem
    secrets = scan(text, options.detectors)
    if not any(secret.start < front for secret in secrets):
        # YAML writes a character in more ways than a scanner reads; what is stored is what it means.
        secrets = [Secret(secret.kind, 0, front) for secret in _held(values, options)] + secrets
    named = scan(found.relative, options.detectors)
    given = _held(source.metadata, options)
    titled = scan(title, options.detectors)
    parts = _parts(text, secrets)
    headed = _tainted(chunks, parts, options.detectors)
    if not titled and _tells(title, parts):
        titled = [Secret(secret.kind, 0, 0) for secret in secrets[:1]]
    in_front = any(secret.start < front for secret in secrets)
    rid = document_rid(source.namespace, found.uri)
    path = masked(found.relative, named)
    if titled:
        title = PurePosixPath(path).stem
    passages = (
        _passages(rid, chunks, text, title, level, secrets, frozenset(headed), options) if not named + given else ()
    )
    clean = [passage for passage in passages if not passage.quarantined]
    hit = bool(secrets or named or given or titled or headed)
    blocked = hit and not any(passage.text.strip() for passage in clean)
    metadata = {
        **({} if named or given else source.metadata),
        **({"front": _plain(values)} if values and not in_front and not titled else {}),
    }
    row = DocumentRow(
        rid=rid,
        namespace=source.namespace,
        uri=_masked_uri(found, path, rid) if named else found.uri,
        path=path,
        suffix=suffix,
        title=title[:500],
        doc_type=_doc_type({} if in_front or titled else values, found.relative),
        revision=_revision(text, level, passages),
        fingerprint=fingerprint(source, data, options),
        classification=level.value,
        tier=_tier(values, reader.tier).value,
        status=(DocumentStatus.QUARANTINED if blocked else DocumentStatus.ACTIVE).value,
        superseded_by=None,
        modified_at=modified_at,
        indexed_at=now,
        passages=0 if blocked else len(clean),
        metadata=metadata,
    )
    read = {secret.kind for secret in secrets}
    places = (
        [("file name", secret.kind, 0) for secret in named]
        + [("metadata", secret.kind, 0) for secret in given]
        + [("title", secret.kind, 0) for secret in titled]
        + [
            ("front matter" if secret.start < front else "body", secret.kind, text.count("\n", 0, secret.start) + 1)
            for secret in secrets
        ]
        # Without its markup a heading may say what its line does not.
        + [
            ("heading", kind, line)
            for kind, line in dict(reversed(list(headed.values()))).items()
            if kind and kind not in read
        ]
    )
    quarantine = tuple(
        QuarantineRow(rid, source.namespace, path, kind, place, line, now) for place, kind, line in places
    )
    problems = [Problem(path, line, message) for line, message in extracted.problems]
    if problem:
        problems.append(Problem(path, 1, problem))
    return Prepared(row, level, () if blocked else passages, quarantine, tuple(problems))


def _passages(
    document: str,
    chunks: Sequence[Chunk],
    text: str,
    title: str,
    level: Classification,
    secrets: Sequence[Secret],
    tainted: Container[tuple[str, ...]],
    options: Options,
) -> tuple[NewPassage, ...]:
    out: list[NewPassage] = []
    seen: dict[str, int] = {}
    language = language_of(text)
    for ordinal, piece in enumerate(chunks):
        body = text[piece.start : piece.end]
        hit = piece.section in tainted or any(
            secret.start < piece.end and piece.start < secret.end for secret in secrets
        )
        begin = piece.start - len(piece.lead)
        lead = "" if any(secret.start < piece.start and begin < secret.end for secret in secrets) else piece.lead
        own = piece.level if piece.level is not None and piece.level.rank > level.rank else level
        section = () if piece.section in tainted else piece.section
        if hit:
            # Of a text so short the identifier, a hash, could be guessed back: it is made of what is kept.
            body = "\n" * body.count("\n")
        key = "\x1f".join((document, *section, body, *(["quarantined"] if hit else [])))
        copy = seen[key] = seen.get(key, -1) + 1
        rid = "psg_" + hashlib.sha256(f"{key}\x1f{copy}".encode()).hexdigest()[:24]
        if hit:
            out.append(
                NewPassage(
                    rid, ordinal, section, piece.lines, "", body, own, "", "", quarantined=True, terms={}, length=0
                )
            )
            continue
        heading = heading_path(title, piece.section)
        terms, length = options.analyzer.passage(heading, lead + body)
        out.append(
            NewPassage(
                rid,
                ordinal,
                piece.section,
                piece.lines,
                lead,
                body,
                own,
                passage_language(lead + body, language),
                hashlib.sha256(index_text(heading, lead + body).encode()).hexdigest(),
                quarantined=False,
                terms=terms,
                length=length,
            )
        )
    return tuple(out)


def _tainted(
    chunks: Sequence[Chunk], parts: Sequence[str], detectors: tuple[Detector, ...]
) -> Mapping[tuple[str, ...], tuple[str, int]]:
    """Those of the paths of headings that hold a secret, with its kind ("" for one that its line told) and the line where they begin."""
    lines: dict[tuple[str, ...], int] = {}
    for piece in chunks:
        lines.setdefault(piece.section, piece.lines[0])
    found = {
        section: ("", line) for section, line in lines.items() if any(_tells(heading, parts) for heading in section)
    }
    written = {section: "\n".join(section) for section in lines}
    # One pass over all of them: nearly always there is none, and then there is none in any.
    if scan("\n\n".join(written.values()), detectors):
        secrets = {section: scan(text, detectors) for section, text in written.items()}
        found |= {section: (held[0].kind, lines[section]) for section, held in secrets.items() if held}
    return found


def _parts(text: str, secrets: Sequence[Secret]) -> list[str]:
    """What each line of each secret is without signs, which headings leave out: without its underscore a token looks like none."""
    return [
        plain
        for secret in secrets
        for line in text[secret.start : secret.end].split("\n")
        if len(plain := _letters(line)) >= SHORTEST_PART
    ]


def _tells(heading: str, parts: Sequence[str]) -> bool:
    """Whether a heading or title holds one of the parts, or the beginning of one where it was cut off."""
    if not parts:
        return False
    plain = _letters(heading)
    cut = len(heading) >= MAX_HEADING // 2
    return any(
        part in plain or (cut and any(plain.endswith(part[:size]) for size in range(SHORTEST_PART, len(part))))
        for part in parts
    )


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def _held(values: Mapping[str, Any], options: Options) -> list[Secret]:
    """Secrets in values: beside their names, which tell a password, and each by itself, as JSON escapes what it quotes."""
    if not values:
        return []
    texts = [json.dumps(dict(values), default=str, ensure_ascii=False), *_texts(values)]
    found = {secret.kind: secret for text in texts for secret in scan(text, options.detectors)}
    return [found[kind] for kind in sorted(found)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (str(key), *_texts(inner))
    elif isinstance(value, list | tuple | set):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif value is not None:
        yield str(value)


def _masked_uri(found: Found, path: str, rid: str) -> str:
    """The place of a document without what its name, or the name of a folder, tells; two of one folder stay two."""
    above = "text:" if found.uri == f"text:{found.relative}" else found.uri
    if above is found.uri:
        above = "/".join(above.split("/")[: -(found.relative.count("/") + 1)]) + "/"
    return f"{above}{path}#{rid}"


def heading_path(title: str, section: Sequence[str]) -> str:
    """The title and the headings above a passage. In front of it they are worth three points of nDCG."""
    path = list(section) if section and section[0].casefold() == title.casefold() else [title, *section]
    return " > ".join(part for part in path if part)


def index_text(heading: str, body: str) -> str:
    """What is embedded."""
    return f"{heading}\n{body}" if heading else body


def _first_heading(chunks: Sequence[Chunk], text: str, front: int) -> str:
    """The first heading of the highest rank there is at the document's beginning."""
    first = next((piece for piece in chunks if piece.section and piece.end > front), None)
    if first is None or text[front : first.start].strip():
        return heading_text(first.section[0]) if first is not None and len(first.section) == 1 else ""
    return heading_text(first.section[0])


def _tier(values: Mapping[str, Any], base: Tier) -> Tier:
    """A document may say that a machine wrote it; it cannot say that a person did."""
    said = text_value(values, "tier", "provenance", "generated_by", "generated-by").lower()
    if said in {"machine_written", "machine-written", "generated", "ai", "llm"} or text_value(
        values, "generated_by", "generated-by"
    ):
        return Tier.MACHINE_WRITTEN
    return Tier.MACHINE_READ if said in {"machine_read", "machine-read", "ocr"} else base


def _doc_type(values: Mapping[str, Any], path: str) -> str:
    said = text_value(values, "type", "doc_type", "doc-type", "kind").lower()
    if said:
        return said[:40]
    words = re.split(r"[^a-z]+", path.lower())
    return next((kind for kind in _TYPES for word in words if word in {kind, kind + "s"}), "document")


def masked(text: str, secrets: Sequence[Secret]) -> str:
    """The text without its secrets."""
    for secret in reversed(secrets):
        text = text[: secret.start] + MASK * 3 + text[secret.end :]
    return text


def _revision(text: str, level: Classification, passages: Sequence[NewPassage]) -> str:
    levels = ",".join(f"{p.ordinal}:{p.level.rank}" for p in passages if p.level is not level)
    quarantined = ",".join(str(p.ordinal) for p in passages if p.quarantined)
    return hashlib.sha256(
        f"{text}\x1f{level.value}\x1f{levels}\x1f{quarantined}".encode("utf-8", "surrogatepass")
    ).hexdigest()[:32]


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Front matter as JSON can hold it."""
    plain: dict[str, Any] = json.loads(json.dumps(values, default=str, ensure_ascii=False).replace("\\u0000", ""))
    return plain
