"""Values: whether two quantities or moments can be compared, are the same, or exclude each other."""

from __future__ import annotations

from assistant.core.comparing.bounds import LOWER, UPPER
from assistant.core.comparing.claims import Token
from assistant.core.comparing.dates import Moment, MomentKind
from assistant.core.comparing.quantities import comparable, excludes, same_amount


def same_sort(one: Token, other: Token) -> bool:
    """Whether two values can be compared: one dimension, or both dates, both weekdays, both clock times."""
    if one.quantity and other.quantity:
        return comparable(one.quantity, other.quantity)
    return bool(one.moment and other.moment and _scale(one.moment) == _scale(other.moment))


def _scale(moment: Moment) -> str:
    """Weekdays, clock times and fiscal periods (whose start is not known) are compared with their like, dates with dates."""
    return moment.kind if moment.kind in (MomentKind.WEEKDAY, MomentKind.CLOCK, MomentKind.FISCAL) else "date"


def same_value(one: Token, other: Token) -> bool:
    """Whether two comparable values are the same amount or moment."""
    if one.quantity and other.quantity:
        return same_amount(one.quantity, other.quantity)
    return bool(one.moment and other.moment and same_moment(one.moment, other.moment))


def same_moment(one: Moment, other: Moment) -> bool:
    """Whether two moments can be the same: equal, or one only names the other less exactly (1866; 5 May 1866)."""
    first, second = one.key.rstrip("?"), other.key.rstrip("?")
    if first == second:
        return True
    if one.start and other.start and one.end and other.end:
        return (one.start <= other.start and other.end <= one.end) or (
            other.start <= one.start and one.end <= other.end
        )
    if one.kind is MomentKind.CLOCK:
        return "?" in one.key + other.key and first[3:] == second[3:] and (int(first[:2]) - int(second[:2])) % 12 == 0
    if one.kind is other.kind is MomentKind.FISCAL:
        return first.startswith(second) or second.startswith(first)
    return _same_part(one, other) or _same_part(other, one)


def _same_part(part: Moment, whole: Moment) -> bool:
    """Whether a day, month or quarter without a year is the one in which a moment lies ("March"; "5 March 2024")."""
    key = part.key.rpartition(" ")[2]
    if part.kind is MomentKind.MONTH_OF_YEAR and whole.kind is MomentKind.DAY_OF_YEAR:
        return int(whole.key[:2]) == int(key)
    if whole.start is None or whole.end is None:
        return False
    if part.kind is MomentKind.DAY_OF_YEAR:
        return whole.start == whole.end and whole.start.isoformat().endswith(key)
    months = {whole.start.month, whole.end.month}
    if part.kind is MomentKind.MONTH_OF_YEAR:
        return months == {int(key)}
    length = 3 if key[0] == "Q" else 6
    return part.kind is MomentKind.QUARTER_OF_YEAR and {(month - 1) // length + 1 for month in months} == {int(key[1])}


def differ(one: Token, other: Token) -> bool:
    """Whether two values of one sort cannot both be stated of one thing."""
    if one.quantity and other.quantity:
        return excludes(one.quantity, other.quantity)
    return not same_value(one, other)


def opposite_limits(one: Token, other: Token) -> bool:
    """Whether one amount is a lower limit on one side and an upper limit on the other, with no room between them."""
    if one.quantity is None or other.quantity is None or one.quantity.bound == other.quantity.bound:
        return False
    bounds = LOWER | UPPER
    limits = one.quantity.bound in bounds and other.quantity.bound in bounds
    return limits and same_sort(one, other) and excludes(one.quantity, other.quantity)
