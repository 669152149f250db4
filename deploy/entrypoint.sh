#!/bin/sh
# What the image has compiled, to where the program may write: the image itself may be read-only.
cp -rn /opt/nexus/compiled/. "$NUMBA_CACHE_DIR" 2>/dev/null
exec nexus "$@"
