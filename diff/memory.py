"""Between what is stored of a finding and what the lifecycle works with."""

from __future__ import annotations

from diff.lifecycle import Memory
from nexus.model.finding import Flag, State
from nexus.store.drift_state import StateRow


def memory_of(row: StateRow) -> Memory:
    """As the lifecycle takes it."""
    return Memory(
        row.fingerprint, State(row.state), Flag(row.flag), row.status, row.relation, row.source, row.target, row.decided, row.first_detected, row.changed_at, row.present, row.missing,
        row.counted_on, State(row.before) if row.before else None, row.reason, row.owner, row.expires_at,
    )


def state_of(memory: Memory) -> StateRow:
    """As it is stored."""
    return StateRow(
        memory.fingerprint, memory.state.value, memory.before.value if memory.before else "", memory.flag.value, memory.status, memory.relation, memory.source, memory.target,
        memory.decided, memory.first_detected, memory.changed_at, memory.present, memory.missing, memory.counted_on, memory.reason, memory.owner, memory.expires_at,
    )
