"""placeholder until the English pass stands"""
from __future__ import annotations
from designed.reader import RawClaim
from nexus.model.document import SourceText
from nexus.model.registry import Registry

def has_prose(reader: str) -> bool:
    """."""
    return reader in ("markdown", "text")

def extract(text: SourceText, registry: Registry) -> tuple[RawClaim, ...]:
    """."""
    return ()
