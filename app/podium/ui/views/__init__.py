"""Plain views: each shows a state, says what was asked for, and knows nothing else."""

__all__: list[str] = []
