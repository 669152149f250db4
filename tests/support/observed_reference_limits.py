"""What is right beyond a limit of time or number, where the pure function of spans ends: sections 6 and 5 of observed-edges.md.

A span for a settled window is `late`: counted, and nothing else changes. An edge beyond the limit is folded into the overflow edge of its
source, or of all sources: which ones is not said (first come, first kept), that the sums stay is.
"""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from observed_reference import MINUTE_NS, edges, read
from observed_reference_rules import facts_of

OTHER = "(other)"
NOTHING_IS_INFRASTRUCTURE = SimpleNamespace(rpc=(), paths=())


def held_back(spans, rng, share=0.1):
    """(spans that come in time, spans that come when their windows have settled): of each of the latter some span in time has the minute."""
    late = {number for number in range(len(spans)) if rng.random() < share}
    seen = {span["start_ns"] // MINUTE_NS for number, span in enumerate(spans) if number not in late}
    late = {number for number in late if spans[number]["start_ns"] // MINUTE_NS in seen}
    return [span for number, span in enumerate(spans) if number not in late], [spans[number] for number in sorted(late)]


def with_late(services, late):
    """Counters of services with those of deliveries: a name under which nothing but late spans came has a row of its own."""
    counts = Counter(read(span, NOTHING_IS_INFRASTRUCTURE).node for span in late)
    return {name: {**services.get(name, {}), "late": counts[name]} for name in sorted(set(services) | set(counts))}


def folded(raws, kept, base_ns, **settings):
    """The edges of `raws` where only those of the keys `kept` stand by themselves."""
    found = []
    for fact in facts_of(raws, **settings)[0]:
        source, relation, _, *rest = key = fact["key"]
        of_source = (source, relation, OTHER, *rest)
        stands = key if key in kept else of_source if of_source in kept else (OTHER, *of_source[1:])
        found.append({**fact, "key": stands})
    return edges(found, base_ns)
