"""A runner for the window's tests: real ranks, no model. The prompt says what the job does."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import torch.distributed as dist

from podium.jobs import (
    ClipFinished,
    EnhanceRequest,
    GenerationRequest,
    JobEvent,
    MotionPreview,
    Phase,
    PhaseEnded,
    PhaseStarted,
    PreviewPicture,
    PromptEnhanced,
    StepDone,
)
from podium.models.residency import ResidencyPlan
from podium.multigpu import MGPURunner, RunnerError

WIDTH, HEIGHT = 32, 16


class UiRunner(MGPURunner):
    """Does what the prompt says; `checkpoint_path` says what the setup does."""

    def setup(self, *, checkpoint_path: object, **kwargs: Any) -> None:
        self._setup = kwargs
        getattr(self, f"setup_{checkpoint_path}", lambda: None)()

    def __call__(
        self,
        *,
        request: GenerationRequest | None = None,
        parameters: dict[str, object] | None = None,
        enhance: EnhanceRequest | None = None,
        is_exercise: bool = False,
        residency: ResidencyPlan | None = None,
    ) -> Iterator[JobEvent]:
        if is_exercise:
            dist.barrier(group=self.groups.control_group)
            return
        asked = request or enhance
        assert asked is not None
        action, *words = asked.prompt.split()
        for event in getattr(self, f"do_{action}")(asked, *words):
            if self.rank == 0:
                yield event

    def setup_hang(self) -> None:
        self.job.begin_phase(Phase.LOADING, bytes_total=100)
        time.sleep(3600)

    def setup_die(self) -> None:
        if self.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(3600)

    def setup_refuse(self) -> None:
        raise RunnerError("“hang.safetensors” is quantised. Choose the bf16 checkpoint.")

    def do_clip(self, request: GenerationRequest, num_steps: str = "5", step_s: str = "0.01") -> Iterator[JobEvent]:
        """Make steps, each with a preview, and a file."""
        count = int(num_steps)
        yield PhaseStarted(Phase.STAGE_1, count)
        for step in range(1, count + 1):
            time.sleep(float(step_s))
            self.job.checkpoint(Phase.STAGE_1, step, count)
            yield StepDone(Phase.STAGE_1, step, count, float(step_s), 1 - step / count)
            yield PreviewPicture(Phase.STAGE_1, step, WIDTH, HEIGHT, bytes([step % 256]) * (3 * WIDTH * HEIGHT))
        yield PhaseEnded(Phase.STAGE_1, count * float(step_s))
        yield MotionPreview(Phase.STAGE_1, count, WIDTH, HEIGHT, 2, 0.1, bytes(6 * WIDTH * HEIGHT))
        if self.rank == 0:
            request.output_path.parent.mkdir(parents=True, exist_ok=True)
            request.output_path.write_bytes(b"clip")
        yield ClipFinished(request.output_path, request.output_path.with_suffix(".json"), request.clip, 24_000, 4)

    def do_write(self, request: EnhanceRequest, num_tokens: str = "3", token_s: str = "0.01") -> Iterator[JobEvent]:
        """Write so many tokens."""
        count = int(num_tokens)
        yield PhaseStarted(Phase.ENCODING, count)
        for token in range(1, count + 1):
            time.sleep(float(token_s))
            self.job.checkpoint(Phase.ENCODING, token, count)
            yield StepDone(Phase.ENCODING, token, count, float(token_s))
        yield PhaseEnded(Phase.ENCODING, count * float(token_s))
        yield PromptEnhanced(f"{request.prompt}, written out", "A note.")

    def do_stop_rank(self, _request: GenerationRequest, rank: str) -> Iterator[JobEvent]:
        """Let the kernel stop one rank in the middle of a step."""
        yield StepDone(Phase.STAGE_1, 1, 9, 0.01)
        self.job.checkpoint(Phase.STAGE_1, 1, 9)
        if self.rank == int(rank):
            os.kill(os.getpid(), signal.SIGSTOP)
        self.job.checkpoint(Phase.STAGE_1, 2, 9)

    def do_die(self, _request: GenerationRequest, rank: str) -> Iterator[JobEvent]:
        yield PhaseStarted(Phase.STAGE_1, 2)
        if self.rank == int(rank):
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(3600)

    def do_refuse(self, _request: GenerationRequest, *words: str) -> Iterator[JobEvent]:
        yield PhaseStarted(Phase.ENCODING)
        raise RunnerError(" ".join(words))

    def do_flood(self, request: GenerationRequest, num_previews: str, num_bytes: str) -> Iterator[JobEvent]:
        """Send previews as fast as they go."""
        for step in range(1, int(num_previews) + 1):
            yield PreviewPicture(Phase.STAGE_1, step, int(num_bytes) // 3, 1, bytes(int(num_bytes)))
        yield from self.do_clip(request, "1")
