"""The window: observable state, plain views, and the one thread that owns a fleet. The only room that knows Qt."""

__all__: list[str] = []
