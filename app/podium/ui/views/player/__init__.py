"""Play a clip frame by frame: by QtMultimedia with sound, or where that is missing by PyAV without."""

__all__: list[str] = []
