"""What a server says of when to ask again (`Retry-After`, RFC 9110 section 10.2.3). Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Fractions are beyond the standard, and sent all the same. Nine digits are thirty years.
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds from `now` until the stated moment: of a number of seconds or an HTTP date; 0 for a date that has passed.

    None for what is neither, a negative or endless number among it: the sender then waits as long as it would have. How long it
    waits at most is the sender's to say.
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        # An HTTP date is in GMT, also where it does not say so.
        return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now.timestamp())
    except (TypeError, ValueError, OverflowError):
        return None
