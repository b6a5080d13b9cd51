"""How the collectives of teams are counted, where one has more to do than the next."""

from __future__ import annotations

from podium.multigpu.groups import NCCLGroups, TeamGroups, collective_counter


class Group:
    """A group that has begun so many collectives."""

    def __init__(self, num_begun: int = 0) -> None:
        self.num_begun = num_begun

    def _get_sequence_number_for_group(self) -> int:
        return self.num_begun


def test_ranks_are_level_where_their_step_is_over_whatever_it_took() -> None:
    counts = []
    for work in ((12, 5), (4, 9)):
        teams, group = TeamGroups(), Group(3)
        teams.add(2, group)  # type: ignore[arg-type]
        teams.level(0)
        counts.append([])
        for begun in work:
            group.num_begun += begun
            teams.level(20)
            counts[-1].append(teams.num_collectives())
    assert counts == [[20, 40], [20, 40]]


def test_within_a_step_the_rank_that_began_fewer_is_behind_its_team() -> None:
    counted = []
    for begun in (7, 6):
        teams, group = TeamGroups(), Group()
        teams.add(2, group)  # type: ignore[arg-type]
        teams.level(20)
        group.num_begun = begun
        counted.append(teams.num_collectives())
    assert counted == [27, 26]


def test_a_fleet_counts_its_groups_and_its_teams() -> None:
    world, control, team = Group(5), Group(2), Group(3)
    groups = NCCLGroups(world, world, world, control)  # type: ignore[arg-type]
    count = collective_counter(groups)
    assert count() == 7
    groups.teams.add(2, team)  # type: ignore[arg-type]
    assert count() == 10
    assert groups.teams.find(2) is team
    assert groups.teams.find(4) is None


def test_a_fleet_counts_what_replays_began_and_takes_back_what_was_only_tried() -> None:
    group = Group(5)
    groups = NCCLGroups(group, group, group, group)  # type: ignore[arg-type]
    count = collective_counter(groups)
    groups.replayed.add(9)
    assert count() == 14
    groups.replayed.add(-9)
    assert count() == 5
