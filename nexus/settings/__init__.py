"""Every setting there is: one frozen model per area, all under the prefix `NEXUS_`, nested by `__`.

Only `nexus.wiring` and `nexus.cli` read settings; components take values.
"""

from nexus.settings.load import Settings, describe_settings, load_settings

__all__ = ["Settings", "describe_settings", "load_settings"]
