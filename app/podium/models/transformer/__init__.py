"""The audio-video transformer of LTX-2, with the official parameter names."""
