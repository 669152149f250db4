"""The diff's runner: the other components' ports, the policy of the settings, and who is told about transitions."""

from __future__ import annotations

from diff.notify import Notifier
from diff.options import policy_from
from diff.reading import Readers
from diff.run import Config, DriftRunner
from nexus.model.document import Classification
from nexus.ports.coverage import CoverageReader
from nexus.ports.designed import DesignedReader
from nexus.ports.observed import ObservedHistory, ObservedReader
from nexus.wiring.runtime import Runtime


def build(runtime: Runtime) -> DriftRunner:
    """One runner a process."""
    settings = runtime.settings.diff
    readers = Readers(
        runtime.get(DesignedReader),
        runtime.get(ObservedReader),
        runtime.get(ObservedHistory),
        runtime.get(CoverageReader),
    )
    config = Config(policy_from(settings.model_dump()), settings.running_day, settings.window_days)
    notifier = Notifier(settings.webhook_urls, Classification(settings.webhook_clearance))
    return DriftRunner(runtime.database, readers, runtime.clock, config, (notifier.queue,))


PROVIDE = (DriftRunner, build)
