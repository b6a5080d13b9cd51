"""Loaded into a forkserver, makes its children find their device spoilt, as a probe of CUDA before the fork would."""

from __future__ import annotations

from podium.multigpu import rendezvous

rendezvous.is_device_spoilt = lambda begin: True
