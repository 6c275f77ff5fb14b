"""The words of quantities: number words, magnitudes, units and currencies, English and Chinese."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Dimension(StrEnum):
    """What a quantity measures."""

    COUNT = "count"
    ORDINAL = "ordinal"
    PERCENT = "percent"
    MONEY = "money"
    DURATION = "duration"
    LENGTH = "length"
    AREA = "area"
    WEIGHT = "weight"
    DATA = "data"
    TEMPERATURE = "temperature"
    FREQUENCY = "frequency"


_NUMBERS: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS: Final = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
NUMBER_WORDS: Final = {word: value for value, word in enumerate(_NUMBERS.split())} | {"dozen": 12}
TENS: Final = {word: value * 10 for value, word in enumerate(_TENS.split(), start=2)}
ORDINAL_WORDS: Final = {word: value for value, word in enumerate(_ORDINALS.split(), start=1)}
MAGNITUDES: Final = {
    "k": 1e3,
    "thousand": 1e3,
    "m": 1e6,
    "mm": 1e6,
    "million": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "billion": 1e9,
    "trillion": 1e12,
    "百": 1e2,
    "千": 1e3,
    "万": 1e4,
    "亿": 1e8,
}
CURRENCIES: Final = {
    "$": "USD",
    "US$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "CNY",
    "￥": "CNY",
    "RMB": "CNY",
} | {code: code for code in ["USD", "EUR", "GBP", "CNY", "JPY", "CHF", "CAD", "AUD", "HKD"]}

_DAY: Final = 86400.0
_WORKING_DAYS: Final = (
    "business days|business day|working days|working day|workdays|workday|work days|work day"
    "|个工作日|工作日|个工作天|工作天"
)
# Degrees Fahrenheit also have another zero (see `quantities`). Months and years have their mean length (Gregorian calendar); a working week has five days.
_TABLE: Final[tuple[tuple[Dimension, str, float, str], ...]] = (
    (Dimension.PERCENT, "%", 1.0, "%|％|percent|per cent|pct|percentage points|percentage point|个百分点"),
    (Dimension.DURATION, "second", 1.0, "seconds|second|secs|sec|秒钟|秒"),
    (Dimension.DURATION, "minute", 60.0, "minutes|minute|mins|min|分钟"),
    (Dimension.DURATION, "hour", 3600.0, "hours|hour|hrs|hr|h|个小时|小时|个钟头|钟头"),
    (Dimension.DURATION, "day", _DAY, "calendar days|calendar day|days|day|d|个自然日|自然日|日历天|天"),
    (
        Dimension.DURATION,
        "working day",
        _DAY * 7 / 5,
        _WORKING_DAYS,
    ),
    (Dimension.DURATION, "week", _DAY * 7, "weeks|week|wks|wk|个星期|星期|个礼拜|礼拜|周"),
    (Dimension.DURATION, "fortnight", _DAY * 14, "fortnights|fortnight"),
    (Dimension.DURATION, "month", _DAY * 30.436875, "months|month|mos|个月|月"),
    (Dimension.DURATION, "quarter", _DAY * 91.310625, "quarters|quarter|个季度|季度"),
    (Dimension.DURATION, "year", _DAY * 365.2425, "years|year|yrs|yr|周年|年"),
    (Dimension.MONEY, "USD", 1.0, "us dollars|us dollar|dollars|dollar|美元|美金"),
    (Dimension.MONEY, "EUR", 1.0, "euros|euro|欧元"),
    (Dimension.MONEY, "GBP", 1.0, "pounds sterling|英镑"),
    (Dimension.MONEY, "CNY", 1.0, "yuan|元人民币|人民币|元|块钱"),
    (Dimension.MONEY, "HKD", 1.0, "港元|港币"),
    (Dimension.MONEY, "JPY", 1.0, "yen|日元"),
    (Dimension.LENGTH, "km", 1000.0, "kilometres|kilometers|kilometre|kilometer|km|公里|千米"),
    (Dimension.LENGTH, "mile", 1609.344, "miles|mile|mi|英里"),
    (Dimension.LENGTH, "m", 1.0, "metres|meters|metre|meter|米"),
    (Dimension.LENGTH, "foot", 0.3048, "feet|foot|ft|英尺"),
    (Dimension.LENGTH, "inch", 0.0254, "inches|inch|英寸"),
    (Dimension.LENGTH, "cm", 0.01, "centimetres|centimeters|cm|厘米|公分"),
    (Dimension.AREA, "sq mi", 2589988.11, "square miles|square mile|sq mi|平方英里"),
    (Dimension.AREA, "km2", 1e6, "square kilometres|square kilometers|km²|km2|平方公里|平方千米"),
    (Dimension.AREA, "m2", 1.0, "square metres|square meters|m²|平方米|平米"),
    (Dimension.AREA, "sq ft", 0.09290304, "square feet|square foot|sq ft|平方英尺"),
    (Dimension.AREA, "acre", 4046.8564224, "acres|acre|英亩"),
    (Dimension.AREA, "ha", 1e4, "hectares|hectare|公顷"),
    (Dimension.WEIGHT, "kg", 1.0, "kilograms|kilogram|kilos|kg|公斤|千克"),
    (Dimension.WEIGHT, "g", 1e-3, "grams|gram|克"),
    (Dimension.WEIGHT, "lb", 0.45359237, "pounds|pound|lbs|lb|磅"),
    (Dimension.WEIGHT, "t", 1e3, "tonnes|tonne|吨"),
    (Dimension.DATA, "KB", 1e3, "kb|kilobytes"),
    (Dimension.DATA, "MB", 1e6, "mb|megabytes|兆"),
    (Dimension.DATA, "GB", 1e9, "gb|gigabytes"),
    (Dimension.DATA, "TB", 1e12, "tb|terabytes"),
    (Dimension.TEMPERATURE, "C", 1.0, "°c|degrees celsius|摄氏度|℃"),
    (Dimension.TEMPERATURE, "F", 5 / 9, "°f|degrees fahrenheit|华氏度"),
)
UNITS: Final = {
    name: (dimension, unit, factor) for dimension, unit, factor, names in _TABLE for name in names.split("|")
}
