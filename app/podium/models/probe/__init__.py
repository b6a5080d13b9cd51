"""Say what model files are without reading a weight. No torch."""

from podium.models.probe.generation import generation_of_version, parse_model_version
from podium.models.probe.places import probe, probe_all
from podium.models.probe.report import (
    Component,
    FileKind,
    FileReport,
    GemmaFacts,
    Generation,
    Problem,
    Quantisation,
    Slot,
    TransformerShape,
    UpsamplerFacts,
)

__all__ = [
    "Component",
    "FileKind",
    "FileReport",
    "GemmaFacts",
    "Generation",
    "Problem",
    "Quantisation",
    "Slot",
    "TransformerShape",
    "UpsamplerFacts",
    "generation_of_version",
    "parse_model_version",
    "probe",
    "probe_all",
]
