"""Citations of a stored report that its reader may not read any more: the document was quarantined, hidden, deleted or raised since.

The next run judges without them. Until then, and in runs of the past, the verdict stays and what it quotes goes. Pure.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any, Final

from nexus.model.claim import Claim
from nexus.model.document import DocumentRef
from nexus.model.finding import Finding

# Stands where the title stood, in sentences too.
TITLE: Final = "a withdrawn document"


def cited(findings: Sequence[Finding]) -> list[Claim]:
    """What the findings cite, in order."""
    return [claim for finding in findings if finding.designed is not None for claim in finding.designed.claims]


def without(findings: Sequence[Finding], withdrawn: Container[int]) -> list[Finding]:
    """The findings without the words, title and place of the claims at these places of `cited(findings)`."""
    made, place = [], 0
    for finding in findings:
        claims = finding.designed.claims if finding.designed is not None else ()
        gone = [at for at in range(len(claims)) if place + at in withdrawn]
        place += len(claims)
        made.append(_without(finding, [claims[at] for at in gone]) if gone else finding)
    return made


def _without(finding: Finding, gone: Sequence[Claim]) -> Finding:
    assert finding.designed is not None
    names = sorted({claim.document.title or claim.document.uri for claim in gone} - {""}, key=len, reverse=True)

    def said(value: Any) -> Any:
        if isinstance(value, str):
            for name in names:
                value = value.replace(f"{name}, line ", f"{TITLE}, line ")
            return value
        if isinstance(value, dict):
            return {key: said(item) for key, item in value.items()}
        return [said(item) for item in value] if isinstance(value, list | tuple) else value

    claims = tuple(_emptied(claim) if claim in gone else claim for claim in finding.designed.claims)
    return replace(
        finding,
        summary=said(finding.summary),
        what_would_change_this=said(finding.what_would_change_this),
        details=said(finding.details),
        designed=replace(finding.designed, claims=claims),
    )


def _emptied(claim: Claim) -> Claim:
    nobody = DocumentRef(claim.document.rid, TITLE, "", "")
    return replace(claim, document=nobody, quote="", drawn="", attributes={})
