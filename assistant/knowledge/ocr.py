"""Text of pictures by the program tesseract, where it is installed. Blocking; called in the reading process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from typing import Final

_PROGRAM: Final = "tesseract"
_SECONDS: Final = 20
_CHARACTERS: Final = 200_000
_WANTED: Final = ("eng", "chi_sim", "chi_tra")

LONGEST: Final = 3_500
"""The longest side of a picture for reading, in pixels: a page at about 300 dots per inch."""


def is_installed() -> bool:
    """Whether there is a program that reads pictures."""
    return shutil.which(_PROGRAM) is not None


def text_of(picture: bytes) -> str:
    """The text in a PNG or JPEG, empty when there is none, no program, or it takes longer than 20 s."""
    program = shutil.which(_PROGRAM)
    if program is None:
        return ""
    spoken = "+".join(_languages(program))
    answer = _run([program, "stdin", "stdout", *(["-l", spoken] if spoken else [])], picture)
    return answer.replace("\f", "\n\n")[:_CHARACTERS].strip()


@cache
def _languages(program: str) -> tuple[str, ...]:
    """The languages of ours that the program knows."""
    known = set(_run([program, "--list-langs"], b"").split())
    return tuple(name for name in _WANTED if name in known)


def _run(command: list[str], given: bytes) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - our words and a path that which() found
            command,
            input=given,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            preexec_fn=_bounded if sys.platform != "win32" else None,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _bounded() -> None:
    """Bound the processor time, so that the program ends even when the reader that waits for it was ended."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
