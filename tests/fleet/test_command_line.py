"""The command line as a process of its own: what it loads, what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
import pytest

from podium.cli.errors import ExitCode

from tests.fakes.processes import MARK, processes_with, wait_until
from tests.fakes.thorough import thorough

RUN_AND_TELL = """
import json, sys
from podium.__main__ import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:
    code = end.code
heavy = sorted({"accelerate", "diffusers", "torch", "transformers"} & set(sys.modules))
print(json.dumps([code, heavy]), file=sys.stderr)
"""


RUNNERS = {
    "fast": "podium.multigpu.runners.distilled_mgpu",
    "quality": "podium.multigpu.runners.ti2vid_two_stages_mgpu",
    "hq": "podium.multigpu.runners.ti2vid_two_stages_hq_mgpu",
}


def model_arguments(tiny_pack: Path) -> list[str]:
    return [
        "--checkpoint-path",
        str(tiny_pack / "ltx-2.3-tiny.safetensors"),
        "--gemma-root",
        str(tiny_pack / "gemma3"),
        "--spatial-upsampler-path",
        str(tiny_pack / "spatial-upscaler-x2.safetensors"),
        "--cpu-ranks",
        "1",
    ]


GUIDED = ["--prompt", "fox", "--pipeline", "quality", "--distilled-lora", "{pack}/distilled-lora.safetensors"]


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (["--prompt", ""], "The prompt is empty"),
        (["--prompt", "fox", "--lora", "{pack}/spatial-upscaler-x2.safetensors", "1"], "is no LoRA"),
        (["--prompt", "fox " * 2000], "The prompt is too long"),
        (["--prompt", "fox", "--image", "{pack}/ltx-2.3-tiny.safetensors", "0", "1"], "is no picture"),
        (["--prompt", "fox", "--negative-prompt", "blurry"], "Fast is not guided"),
        (["--prompt", "fox", "--distilled-lora", "{pack}/distilled-lora.safetensors"], "Leave out --distilled-lora"),
        (["--prompt", "fox", "--duration", "auto"], "it has no duration head"),
        (["--prompt", "fox", "--quantization", "fp8-scaled"], "holds its weights in full"),
        ([*GUIDED, "--video-stg-blocks", "28"], "no block 28 to perturb"),
        ([*GUIDED, "--num-inference-steps", "0"], "0 steps cannot be made"),
        ([*GUIDED, "--distilled-lora", "{pack}/spatial-upscaler-x2.safetensors"], "“spatial-upscaler-x2.safetensors”"),
        ([*GUIDED, "--generated-keyframes", "1"], "makes no key frames of its own"),
        ([*GUIDED, "--image", "{pack}/none.png", "200", "1"], "no frame 200"),
    ],
)
def test_a_refusal_is_one_line_and_loads_no_tensor_library(
    tiny_pack: Path, tmp_path: Path, extra: list[str], sentence: str
) -> None:
    arguments = [*model_arguments(tiny_pack), *(text.replace("{pack}", str(tiny_pack)) for text in extra)]
    done = subprocess.run(
        [sys.executable, "-c", RUN_AND_TELL, "generate", *arguments, "--output-path", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    said, told = done.stderr.splitlines()
    assert sentence in said
    assert json.loads(told) == [ExitCode.REFUSED, []]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", [thorough("fast"), thorough("quality"), "hq"])
def test_a_runners_module_takes_the_options_of_the_command(tiny_pack: Path, tmp_path: Path, kind: str) -> None:
    size = ["--prompt", "fox", "--height", "64", "--width", "64", "--num-frames", "9", "--seed", "3"]
    if kind != "fast":
        size += ["--distilled-lora", str(tiny_pack / "distilled-lora.safetensors"), "1.0", "--video-cfg", "2"]
        size += ["--num-inference-steps", "2", "--negative-prompt", "blurry"]
    command = [sys.executable, "-m", RUNNERS[kind], *model_arguments(tiny_pack), "--output-path", str(tmp_path)]
    done = subprocess.run(
        [*command, *size], env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True
    )
    clip = Path(done.stdout.strip())
    assert clip.is_file()
    parameters = json.loads(clip.with_suffix(".json").read_text(encoding="utf-8"))
    names = {"fast": "distilled", "quality": "ti2vid_two_stages", "hq": "ti2vid_two_stages_hq"}
    assert parameters["pipeline"] == names[kind]
    if kind != "fast":
        assert (parameters["num_inference_steps"], parameters["video_guidance"]["cfg"]) == (2, 2)
        assert parameters["distilled_lora_strengths"] == ([0, 1] if kind == "quality" else [0.25, 0.5])


@pytest.mark.thorough
@pytest.mark.timeout(300)
def test_a_model_with_a_duration_head_makes_the_clip_as_long_as_the_prompt_asks_for(
    tiny_pack: Path, tmp_path: Path
) -> None:
    split = tiny_pack / "ltx-2.5"
    parts = ("transformer", "text_encoder", "video_vae", "audio_vae", "duration_head")
    files = [
        text for part in parts for text in (f"--{part.replace('_', '-')}-path", str(split / f"{part}.safetensors"))
    ]
    files += ["--spatial-upsampler-path", str(tiny_pack / "spatial-upscaler-x2.safetensors"), "--cpu-ranks", "1"]
    size = ["--prompt", "fox", "--height", "64", "--width", "64", "--frame-rate", "2", "--duration", "auto"]
    done = subprocess.run(
        [sys.executable, "-m", "podium", "generate", *files, *size, "--output-path", str(tmp_path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    parameters = json.loads(Path(done.stdout.strip()).with_suffix(".json").read_text(encoding="utf-8"))
    assert f"The prompt asks for {parameters['num_frames']} frames." in done.stderr.splitlines()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_job_that_fails_says_so_once(tiny_pack: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podium", "generate", *model_arguments(tiny_pack), "--output-path", str(tmp_path)]
    size = ["--prompt", "fox", "--height", "64", "--width", "64", "--num-frames", "65"]
    mark = uuid.uuid4().hex
    env = {**os.environ, "OMP_NUM_THREADS": "1", MARK: mark}
    with subprocess.Popen(
        [*command, *size], env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert any(line.startswith("Stage 1: 1 of 8") for line in process.stderr)
        (rank,) = ranks_with(mark)
        os.kill(rank, signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    assert process.returncode == ExitCode.FAILED
    assert sum("killed by the system" in line for line in err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_interrupted_clip_leaves_nothing_behind(tiny_pack: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podium", "generate", *model_arguments(tiny_pack), "--output-path", str(tmp_path)]
    size = ["--prompt", "fox", "--height", "64", "--width", "64", "--num-frames", "65"]
    # On a busy machine, threads that wait for each other take many times as long as one.
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [*command, *size], env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert any(line.startswith("Decoding ...") for line in process.stderr)
        # The sound is decoded first and begins the file; the pictures take much longer.
        while not any(tmp_path.iterdir()):
            assert process.poll() is None
            os.sched_yield()
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (ExitCode.INTERRUPTED, "")
    assert err.splitlines()[-1] == "Stopped. Nothing was written."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_second_interrupt_ends_a_job_whose_rank_answers_no_more(tiny_pack: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "podium", "generate", *model_arguments(tiny_pack), "--output-path", str(tmp_path)]
    size = ["--prompt", "fox", "--height", "64", "--width", "64", "--num-frames", "65"]
    mark = uuid.uuid4().hex
    env = {**os.environ, "OMP_NUM_THREADS": "1", MARK: mark}
    with subprocess.Popen(
        [*command, *size], env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert any(line.startswith("Decoding ...") for line in process.stderr)
        while not any(tmp_path.iterdir()):
            assert process.poll() is None
            os.sched_yield()
        writers: list[int] = []
        # The file has its name a moment before it is opened for the clip.
        assert wait_until(lambda: writers.extend(writers_in(tmp_path, mark)) or writers)
        os.kill(writers[0], signal.SIGSTOP)
        os.kill(process.pid, signal.SIGINT)
        assert any(line.startswith("Stopping at the next step.") for line in process.stderr)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (ExitCode.INTERRUPTED, "")
    assert err.splitlines()[-1] == "Stopped. Nothing was written."
    assert list(tmp_path.iterdir()) == []
    assert wait_until(lambda: not processes_with(mark), timeout_s=3)


def writers_in(folder: Path, mark: str) -> list[int]:
    """Return the processes with this mark that hold a file in a folder open."""
    found = []
    for pid in processes_with(mark):
        try:
            is_writer = any(folder == fd.readlink().parent for fd in Path(f"/proc/{pid}/fd").iterdir())
        except OSError:
            continue
        found += [pid] if is_writer else []
    return found


def ranks_with(mark: str) -> list[int]:
    """Return the ranks of this mark: what the process that starts them was forked into."""

    def command_of(pid: int) -> list[str]:
        return psutil.Process(pid).cmdline()

    marked = processes_with(mark)
    parents = {pid: psutil.Process(pid).ppid() for pid in marked}
    return [pid for pid in marked if parents[pid] in marked and command_of(pid) == command_of(parents[pid])]
