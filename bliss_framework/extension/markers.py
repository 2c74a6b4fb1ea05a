"""The two pluggy markers; a plugin imports `hookimpl` from `bliss_framework`."""

import pluggy

PROJECT = "bliss_framework"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
