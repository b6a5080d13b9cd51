"""The small parts that views are made of; none knows a state."""

__all__: list[str] = []
