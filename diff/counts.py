"""Counts with their nouns: one of a thing is never said as several. Korean reads these words back (korean_sentences.py)."""

from __future__ import annotations


def many(count: int, noun: str) -> str:
    """`1 day`, `2,000 days`; of several words the last one is the noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def there(count: int) -> str:
    """`there is 1`, `there are 20`."""
    return f"there {is_are(count)} {count:,}"


def is_are(count: int) -> str:
    """The verb of that many."""
    return "is" if count == 1 else "are"
