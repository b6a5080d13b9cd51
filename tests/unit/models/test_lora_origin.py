"""A LoRA's file tells which model it was trained for, or says nothing."""

from __future__ import annotations

import pytest

from podium.models.lora_origin import trained_for

PLAIN = ("diffusion_model.transformer_blocks.0.attn1.to_q.lora_A.weight",)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"model_version": "2.3.rc1"}, "LTX-2.3"),
        ({"model_version": "2.5"}, "LTX-2.5"),
        ({"ss_base_model_version": "ltx2"}, "LTX-2"),
        ({"ss_base_model_version": "ltxv_2.3"}, "LTX-2.3"),
        ({"modelspec.architecture": "LTX-2/lora", "base_model": "ltx-2.3"}, "LTX-2.3"),
        ({"base_model": "Lightricks/LTX-2.3"}, "LTX-2.3"),
        ({"ss_sd_model_name": "ltx-2.3-22b-dev.safetensors"}, "LTX-2.3"),
        ({"ss_sd_model_name": "flux1-dev.safetensors"}, ""),
        ({"ss_base_model_version": "ltx-20"}, ""),
        ({"model_version": "0.9.8"}, ""),
        ({}, ""),
    ],
)
def test_metadata_name_the_generation(metadata: dict[str, str], words: str) -> None:
    assert trained_for(metadata, PLAIN) == words


def test_parts_that_the_first_generation_has_not_tell_of_a_later_one() -> None:
    gates = ("diffusion_model.transformer_blocks.0.attn1.to_gate_logits.lora_A.weight",)
    assert trained_for({}, gates) == "LTX-2.3 or later"
    assert trained_for({"ss_base_model_version": "ltx2"}, gates) == "LTX-2.3 or later"
    assert trained_for({"model_version": "2.5"}, gates) == "LTX-2.5"
