"""What a command says and to whom: sentences to stderr, results to stdout, no fuss where nobody listens any more."""

from __future__ import annotations

import os
import sys
from typing import TextIO


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a line to stderr by default; where its reader is gone, go on without it."""
    stream = stream or sys.stderr
    try:
        print(text, file=stream, flush=True)
    except OSError:
        silence(stream)


def hand_out(text: str) -> bool:
    """Print a result to stdout, a path of any bytes too; return whether it arrived."""
    try:
        sys.stdout.buffer.write(_encoded(f"{text}\n"))
        sys.stdout.flush()
    except OSError:
        silence(sys.stdout)
        return False
    return True


def ask(question: str) -> bool:
    """Ask on the terminal until the answer is yes or no; nobody there is a no."""
    while True:
        say(f"{question} [y/n]")
        answer = sys.stdin.readline()
        if not answer:
            return False
        word = answer.strip().lower()
        if word in {"y", "yes", "n", "no"}:
            return word.startswith("y")


def silence(stream: TextIO) -> None:
    """Let what is still to be written to a stream vanish: by anybody, the interpreter's last flush included."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, stream.fileno())
    finally:
        os.close(null)


def _encoded(text: str) -> bytes:
    try:
        # A path in bytes that are no text leaves as it came.
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode(sys.getfilesystemencoding(), "backslashreplace")
