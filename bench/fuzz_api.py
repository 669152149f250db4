"""The API against its own description, for longer than a test may take: `make fuzz-api [EXAMPLES=200]`.

Prints one line an operation: requests tried, and the first answer that is not described.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from api_fuzz import described, fuzz, operations, without_lifespan
from filled_api import filled_service


def main(examples: int) -> int:
    """Number of operations that failed."""
    failed = 0
    with filled_service() as app:
        api = described(without_lifespan(app))
        for method, path in operations():
            began = time.process_time()
            try:
                fuzz(api, method, path, examples, anew=True)
                said = "ok"
            except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001  # whatever it is, it is this operation's result
                failed += 1
                said = f"{type(error).__name__}: {error}".splitlines()[0]
            print(f"{method:6} {path:40} {time.process_time() - began:6.1f} s CPU  {said}", flush=True)
    print(
        f"{len(operations()) - failed} of {len(operations())} operations answer as described, up to {examples} valid and {examples} invalid requests each"
    )
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 200) else 0)
