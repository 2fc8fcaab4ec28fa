"""Decodes the histograms of the JSON reports: HdrHistogram V2, deflated, in base64."""

from __future__ import annotations

import base64
import binascii
import math
import struct
import zlib
from dataclasses import dataclass
from typing import List, Tuple

from ._errors import BruntError
from ._record import Record

_COMPRESSED = 0x1C849304
_PLAIN = 0x1C849303
# The second half of the low byte is the size of a word, which both cookies have as 1.
_COOKIE_MASK = ~0xF0
_NANOS = 1_000_000_000


@dataclass(frozen=True)
class Bucket:
    """Number of values in a range. Both ends belong to it."""

    low_seconds: float
    high_seconds: float
    count: int


class Distribution(Record):
    """A distribution of times with its histogram."""

    def buckets(self) -> List[Bucket]:
        """Returns the buckets of the histogram that contain values, in ascending order."""
        return [
            Bucket(low / _NANOS, high / _NANOS, count)
            for low, high, count in _decode(self["histogram"], self["histogram_unit"])
        ]

    def percentile(self, quantile: float) -> float:
        """Returns a percentile in seconds, such as `percentile(0.999)`, to better than 0.1 %.

        It is the smallest value that is at least as large as this share of all values. Requests
        without a known time (`censored`) count as the slowest, and a histogram cannot tell how many
        of them it contains. With such requests, read `p50` to `p99_9` and `at_least` instead.
        """
        if not 0 < quantile <= 1:
            raise ValueError(f"quantile {quantile}: not above 0 and at most 1; p99 is 0.99")
        if self["censored"]:
            raise ValueError(
                f"{self['censored']} requests have no known time: `percentile` is not exact; "
                "read `p99` and the names in `at_least`"
            )
        # 0.07 * 100 is 7.000000000000001, and its rank is 7.
        rank = max(1, math.ceil(quantile * self["count"] * (1 - 1e-12)))
        total = 0
        for bucket in self.buckets():
            total += bucket.count
            if total >= rank:
                return float(max(self["min"], min(bucket.high_seconds, self["max"])))
        return float(self["max"])


def _decode(text: str, unit: str) -> List[Tuple[int, int, int]]:
    if unit != "nanoseconds":
        raise BruntError(f"histogram unit `{unit}` is not supported; update the package `brunt`")
    try:
        return _buckets(base64.b64decode(text, validate=True))
    except (binascii.Error, struct.error, zlib.error, IndexError, ValueError) as error:
        raise BruntError(f"the histogram is damaged: {error}") from error


def _buckets(data: bytes) -> List[Tuple[int, int, int]]:
    cookie, length = struct.unpack_from(">ii", data)
    if cookie & _COOKIE_MASK != _COMPRESSED:
        raise ValueError("not a deflated HdrHistogram V2")
    plain = zlib.decompress(data[8 : 8 + length])
    header = struct.unpack_from(">iiiiqqd", plain)
    cookie, payload_length, _, digits, lowest = header[:5]
    if cookie & _COOKIE_MASK != _PLAIN or not 0 <= digits <= 5 or lowest < 1:
        raise ValueError("not an HdrHistogram V2")
    unit_magnitude = lowest.bit_length() - 1
    # Values up to this one have a bucket each.
    single_values = 2 * 10**digits
    half_magnitude = max((single_values - 1).bit_length(), 1) - 1
    half = 1 << half_magnitude
    payload = plain[40 : 40 + payload_length]
    if len(payload) != payload_length:
        raise ValueError("unexpected end")
    buckets = []
    index = 0
    for count in _counts(payload):
        # A negative count is a number of empty buckets.
        if count < 0:
            index -= count
            continue
        if count > 0:
            shift = max((index >> half_magnitude) - 1, 0)
            sub = (index & (half - 1)) + (half if index >= half else 0)
            magnitude = shift + unit_magnitude
            low = sub << magnitude
            buckets.append((low, low + (1 << magnitude) - 1, count))
        index += 1
    return buckets


def _counts(payload: bytes) -> List[int]:
    """Decodes ZigZag LEB128 numbers of at most 9 bytes; the ninth has eight bits."""
    counts = []
    position = 0
    while position < len(payload):
        value = 0
        for byte_number in range(9):
            byte = payload[position]
            position += 1
            if byte_number == 8:
                value |= byte << 56
                break
            value |= (byte & 0x7F) << (7 * byte_number)
            if not byte & 0x80:
                break
        counts.append((value >> 1) ^ -(value & 1))
    return counts
