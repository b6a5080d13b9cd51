"""Which devices a command runs on, found without torch and without touching a GPU."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from podium.cli.options import DeviceOptions
from podium.errors import JobRefusedError
from podium.models.residency import ResidencyPlan
from podium.multigpu import PlacementError
from podium.multigpu.device_room import plan_residency
from podium.multigpu.placement import plan_fleet, visible_gpus
from podium.pipelines.checks import CheckedRequest


def check_devices(options: DeviceOptions, environment: Mapping[str, str] = os.environ) -> int:
    """Return how many ranks a fleet on these devices has.

    Raises:
        JobRefusedError: There are no such devices, or none was asked for on a machine without a GPU.
    """
    for name, number in (("--cpu-ranks", options.cpu_ranks), ("--num-gpus", options.num_gpus)):
        if number is not None and number < 1:
            raise JobRefusedError(f"{name} {number} leaves nothing to work with. It must be 1 or more.")
    if options.devices is not None and len(set(options.devices)) < len(options.devices):
        raise JobRefusedError("--devices names a GPU twice. Each GPU can be named once.")
    if options.cpu_ranks is None and not visible_gpus(environment):
        raise JobRefusedError(
            "No NVIDIA GPU was found, and Podium takes the CPU only when asked to. With --cpu-ranks 2 the clip is made "
            "by two processes on the CPU, slowly."
        )
    try:
        plan = plan_fleet(
            num_gpus=options.num_gpus,
            devices=options.devices,
            cpu_ranks=options.cpu_ranks,
            environment=environment,
        )
    except PlacementError as error:
        raise JobRefusedError(error.message, details=error.details) from error
    return plan.num_ranks


def choose_residency(
    checked: CheckedRequest, options: DeviceOptions, dtype: str, *, own_pids: Collection[int] = ()
) -> ResidencyPlan | None:
    """Return where the parts of the model shall live for a clip on these devices, as `plan_residency`."""
    fleet = plan_fleet(num_gpus=options.num_gpus, devices=options.devices, cpu_ranks=options.cpu_ranks)
    return plan_residency(checked, fleet, dtype, own_pids=own_pids)
