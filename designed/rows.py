"""Readings and claims as the rows that keep them, and back. Pure."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from designed.codec import from_json, to_json
from designed.pipeline import VERSION, DocumentReading, introduced, is_weak
from designed.reader import RawClaim, Reading
from designed.summaries import dependence
from nexus.model.claim import Claim
from nexus.model.document import Classification, DocumentRef
from nexus.store.designed import DocumentRow, DocumentSummary


def document_row(reading: DocumentReading) -> DocumentRow:
    """What is kept of a document that was read."""
    ref = reading.document
    return DocumentRow(
        ref.rid,
        reading.namespace,
        reading.path,
        ref.uri,
        ref.title,
        ref.revision,
        reading.classification.value,
        {"reader": reading.reader, "raised": to_json(reading.raised), **to_json(reading.reading)},
        [to_json(c) for c in reading.prose],
    )


def document_summary(r: DocumentReading) -> DocumentSummary:
    """What must be known of it to tell what a change touches."""
    return DocumentSummary(r.reader, VERSION, introduced(r), list(r.files), dependence(r.reading, r.prose), r.signature)


def document_reading(row: DocumentRow) -> DocumentReading:
    """The reading that a row keeps."""
    return DocumentReading(
        DocumentRef(row.rid, row.title, row.uri, row.revision),
        row.namespace,
        row.path,
        Classification(row.classification),
        row.reading.get("reader", ""),
        from_json(Reading, row.reading),
        tuple(from_json(RawClaim, claim) for claim in row.prose),
        tuple((first, last, Classification(level)) for first, last, level in row.reading.get("raised", ())),
    )


def claim_row(rid: str, edge: str, claim: Claim) -> dict[str, Any]:
    """A claim with the columns by which it is found, and its digest."""
    body = to_json(claim)
    row = {
        "rid": rid,
        "edge_rid": edge,
        "document_rid": claim.document.rid,
        "namespace": claim.namespace,
        "relation": claim.relation,
        "source": claim.source,
        "target": claim.target,
        "environment": claim.environment,
        "modality": claim.modality.value,
        "weak": is_weak(claim),
        "class_rank": claim.classification.rank,
        "first_line": claim.lines[0],
        "body": body,
    }
    return {**row, "digest": digest(row)}


def digest(value: Any) -> str:
    """A short hash of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str).encode()).hexdigest()[:32]
