"""What the window asks of the owner of its fleet: commands, one after another."""

from __future__ import annotations

from dataclasses import dataclass

from podium.ui.baton import Ticket
from podium.ui.state.orders import FleetOrder
from podium.ui.state.values import FleetSpec


class Prepare:
    """Load what fleets need."""


@dataclass(frozen=True, slots=True)
class Start:
    """Have a fleet up.

    Args:
        key: Names the wish; nobody else has to.
    """

    key: object
    spec: FleetSpec
    ticket: Ticket

    @property
    def setup(self) -> dict[str, object]:
        """Return what the ranks are set up with, beside what the fleet says: nothing."""
        return {}

    def is_served_by(self, fleet: FleetSpec) -> bool:
        """Return whether a fleet started so is as good as the one that is wished for."""
        return fleet.serves(self.spec)


@dataclass(frozen=True, slots=True)
class Run:
    """Have a job done."""

    order: FleetOrder
    ticket: Ticket

    @property
    def spec(self) -> FleetSpec:
        """Return the fleet that is wished for."""
        return self.order.spec

    @property
    def setup(self) -> dict[str, object]:
        """Return what the ranks are set up with, beside what the fleet says."""
        return self.order.setup

    def is_served_by(self, fleet: FleetSpec) -> bool:
        """Return whether a fleet started so can do the job."""
        return self.order.is_served_by(fleet)


class Stop:
    """End the fleet."""


class Check:
    """See whether an idle fleet still lives."""


class Exercise:
    """Have the ranks of an idle fleet do one thing together."""


class Quit:
    """End the thread."""


class WithdrawnError(Exception):
    """A wish was taken back before there was anything to stop."""


Command = Prepare | Start | Run | Stop | Check | Exercise | Quit
