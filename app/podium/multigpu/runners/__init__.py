"""The runners that Podium ships. Each module imports torch: a driver names it by `RunnerRef`."""
