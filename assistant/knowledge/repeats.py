"""Pictures that repeat are furniture: logos, backgrounds, icons."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def repeated(places: Mapping[Key, Collection[int]], total: int) -> frozenset[Key]:
    """The pictures that stand on more than a third of the `total` pages.

    Three pages at least, or all of two: a figure that is shown again once is no logo.
    """
    least = 2 if total == 2 else 3
    return frozenset(key for key, pages in places.items() if len(pages) >= least and len(pages) * 3 > total)
