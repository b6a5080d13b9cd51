"""What a checkpoint's generation decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.errors import JobRefusedError
from podium.geometry import check_clip_format
from podium.jobs import GuidanceSpec, PipelineKind
from podium.models.errors import CheckpointError
from podium.models.probe import FileKind, FileReport, Generation, TransformerShape
from podium.pipelines.generation_defaults import (
    CheckpointFacts,
    pipeline_defaults,
    read_checkpoint_facts,
    resolve_guidance,
    resolve_keyframe_slots,
)

from tests.tiny_pack import TinyPack

QUALITY, HQ, FAST = PipelineKind.QUALITY, PipelineKind.HQ, PipelineKind.FAST


def report(version: str | None, generation: Generation | None = None) -> FileReport:
    return FileReport(
        Path("x.safetensors"),
        FileKind.CHECKPOINT,
        generation=generation,
        model_version=version,
        transformer=TransformerShape(48, 32, 128, 32, 64),
    )


@pytest.mark.parametrize(
    ("version", "generation", "steps", "block", "crf"),
    [
        ("2.0", None, 40, 29, 33),
        ("2.0.1", None, 40, 29, 33),
        ("2.3.rc1", None, 30, 28, 33),
        ("2.4", None, 30, 28, 18),
        ("2.5.0", None, 30, 28, 18),
        ("3.1", None, 30, 28, 18),
        (None, Generation.LTX_2_3, 30, 28, 33),
        (None, Generation.LTX_2_5, 30, 28, 18),
        (None, None, 40, 29, 33),
    ],
)
def test_steps_perturbed_block_and_recompression_follow_the_version_else_the_keys(
    version: str | None, generation: Generation | None, steps: int, block: int, crf: int
) -> None:
    defaults = pipeline_defaults(QUALITY, CheckpointFacts.of(report(version, generation)))
    assert defaults.num_inference_steps == steps
    assert defaults.video_guidance == GuidanceSpec(3, 1, 0.7, 3, 0, (block,))
    assert defaults.audio_guidance == GuidanceSpec(7, 1, 0.7, 3, 0, (block,))
    assert defaults.image_crf == crf
    assert defaults.distilled_lora_strengths == (0.0, 1.0)


def test_hq_is_a_preset_of_its_own() -> None:
    defaults = pipeline_defaults(HQ, CheckpointFacts.of(report("2.3")))
    assert defaults.num_inference_steps == 15
    assert defaults.video_guidance == GuidanceSpec(3, 0, 0.45, 3)
    assert defaults.audio_guidance == GuidanceSpec(7, 0, 1.0, 3)
    assert defaults.distilled_lora_strengths == (0.25, 0.5)
    draft = defaults.clip.halved()
    assert (draft.height, draft.width, draft.num_frames) == (544, 960, 121)


@pytest.mark.parametrize("kind", [FAST, QUALITY])
def test_the_other_two_start_from_512_by_768(kind: PipelineKind) -> None:
    draft = pipeline_defaults(kind, CheckpointFacts.of(report("2.3"))).clip.halved()
    assert (draft.height, draft.width, draft.num_frames, draft.fps) == (512, 768, 121, 24)


@pytest.mark.parametrize("kind", list(PipelineKind))
def test_every_default_clip_can_be_made(kind: PipelineKind) -> None:
    check_clip_format(pipeline_defaults(kind, CheckpointFacts.of(report("2.5"))).clip)


def test_facts_come_from_the_file(tiny_pack_2_0: TinyPack, tiny_pack_2_3: TinyPack, tiny_pack_2_5: TinyPack) -> None:
    facts = [read_checkpoint_facts(pack.checkpoint_path) for pack in (tiny_pack_2_0, tiny_pack_2_3, tiny_pack_2_5)]
    assert [fact.generation for fact in facts] == ["2.0", "2.3", "2.5"]
    assert [fact.num_blocks for fact in facts] == [4, 4, 4]
    assert [fact.has_keyframe_embedding for fact in facts] == [False, False, True]
    assert [fact.is_distilled_ancestral for fact in facts] == [False, False, True]
    assert [fact.stg_block for fact in facts] == [2, 2, 2]


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="gone"):
        read_checkpoint_facts(tmp_path / "gone.safetensors")


FACTS = CheckpointFacts(Generation.LTX_2_3, num_blocks=4)


def test_blocks_are_named_only_where_something_is_perturbed() -> None:
    default = pipeline_defaults(QUALITY, FACTS).video_guidance
    assert resolve_guidance(None, default, FACTS) is default
    assert resolve_guidance(GuidanceSpec(stg=2), default, FACTS).stg_blocks == (2,)
    assert resolve_guidance(GuidanceSpec(stg=2, stg_blocks=(0, 3)), default, FACTS).stg_blocks == (0, 3)
    assert resolve_guidance(GuidanceSpec(cfg=2, stg_blocks=(0,)), default, FACTS).stg_blocks == ()


def test_a_block_that_the_model_has_not_is_refused_even_where_it_would_not_matter() -> None:
    with pytest.raises(JobRefusedError, match="no block 28 to perturb. Its blocks are numbered from 0 to 3"):
        resolve_guidance(GuidanceSpec(stg=0, stg_blocks=(28,)), GuidanceSpec(), FACTS)


def test_key_frames_are_spread_between_the_ends() -> None:
    facts = CheckpointFacts(Generation.LTX_2_5, has_keyframe_embedding=True)
    clip = pipeline_defaults(FAST, facts).clip
    assert resolve_keyframe_slots(3, clip, facts) == (30, 60, 90)
    assert resolve_keyframe_slots((90, 7), clip, facts) == (7, 90)
    assert resolve_keyframe_slots(0, clip, facts) == resolve_keyframe_slots((), clip, FACTS) == ()
