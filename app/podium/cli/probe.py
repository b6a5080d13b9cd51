"""`podium probe`: what model files are, as text for people or JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from podium.cli.errors import ExitCode
from podium.cli.options import ProbeOptions
from podium.cli.terminal import hand_out
from podium.models.probe import probe as probe_path
from podium.models.probe.report import FileReport, Quantisation

_LABEL_WIDTH = 20


def probe(options: ProbeOptions) -> int:
    """Print a report on each path; the exit code says whether all can be used."""
    reports = [probe_path(path) for path in options.paths]
    if options.as_json:
        hand_out(json.dumps([report.to_json() for report in reports], ensure_ascii=False, indent=1))
    else:
        hand_out("\n\n".join(report_text(report) for report in reports))
    return ExitCode.REFUSED if any(report.problems for report in reports) else ExitCode.DONE


def report_text(report: FileReport) -> str:
    """Return a report as lines: what the file is, what was found in it, what is wrong with it."""
    size = f", {_size(report.file_bytes)}" if report.file_bytes else ""
    lines = [f"{report.path}: {report.kind.words}{size}"]
    lines += [f"  {label:<{_LABEL_WIDTH}}{value}" for label, value in _facts(report) if value]
    lines += [f"  {'problem':<{_LABEL_WIDTH}}{problem}" for problem in report.problems]
    return "\n".join(lines)


def _facts(report: FileReport) -> Iterator[tuple[str, str]]:
    yield "generation", _generation(report)
    yield "weights", _weights(report)
    for component in report.components:
        plural = "s" if component.num_tensors > 1 else ""
        tensors = f"{component.num_tensors} tensor{plural}, {_size(component.num_bytes)}"
        yield component.slot.words, tensors if component.num_tensors else "present"
    yield from _networks(report)


def _generation(report: FileReport) -> str:
    words = [f"LTX-{report.generation}" if report.generation else ""]
    words.append({True: "distilled", False: "not distilled", None: ""}[report.is_distilled])
    words.append(f"version “{report.model_version}”" if report.model_version else "")
    return ", ".join(word for word in words if word)


def _weights(report: FileReport) -> str:
    if report.stored_dtype is None:
        return ""
    formats = f" ({', '.join(report.quantisation_formats)})" if report.quantisation_formats else ""
    reduced = report.quantisation is not Quantisation.NONE
    return f"{report.stored_dtype}, {report.quantisation.words}{formats}" if reduced else report.stored_dtype


def _networks(report: FileReport) -> Iterator[tuple[str, str]]:
    if (shape := report.transformer) is not None:
        video = f"video {_known(shape.num_heads)} heads of {_known(shape.head_dim)}"
        audio = f"audio {_known(shape.audio_num_heads)} of {_known(shape.audio_head_dim)}"
        yield "size", f"{_known(shape.num_layers)} blocks; {video}, {audio}"
    if (gemma := report.gemma) is not None:
        yield "size", f"Gemma {gemma.family}, {gemma.num_layers} layers, {gemma.hidden_dim} wide"
    if (upsampler := report.upsampler) is not None:
        what = "frames" if upsampler.is_temporal else "pixels"
        yield "enlarges", f"{what}, {_known(upsampler.scale)} times"
    if report.num_lora_layers:
        yield "changes", f"{report.num_lora_layers} layers"


def _known(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"


def _size(num_bytes: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if num_bytes >= factor:
            return f"{num_bytes / factor:.1f} {unit}"
    return f"{num_bytes} bytes"
