from __future__ import annotations

import pytest

from handler.json_schema.formats import FORMATS, STANDARD_FORMATS

FITTING = {
    "date": ["2026-01-31", "2024-02-29", "1970-01-01Z", "1970-01-01-07:00", "1970-01-01+05:30:15"],
    "date-time": [
        "2026-01-31T09:30:00Z",
        "2026-01-31T09:30:00.123456789+02:00",
        "2026-01-31t09:30:00z",
        "2026-01-31 09:30:00+00",
        "2026-01-31 09:30:00.5 +0000",
        "2026-01-31T09:30:00",
        "2026-01-31T09:30",
        "2016-12-31T23:59:60Z",
        "2026-01-31",
    ],
    "email": ["name@example.com", "o'neil+tag@localhost", "jürgen@münchen.example"],
    "ipv4": ["192.0.2.1"],
    "ipv6": ["2001:db8::1", "::ffff:192.0.2.1"],
    "time": ["09:30:00Z", "09:30:00", "09:30", "23:59:60", "09:30:00.25-08:00"],
    "uri": ["https://example.com/a?b=c#d", "mailto:name@example.com", "urn:isbn:0451450523", "http://münchen.example"],
    "uuid": [
        "123e4567-e89b-12d3-a456-426614174000",
        "123E4567E89B12D3A456426614174000",
        "{123e4567-e89b-12d3-a456-426614174000}",
        "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
    ],
    "any-date": ["2026-01-31", "2026-01-31T09:30:00Z"],
    "any-time": ["09:30:00Z", "2026-01-31T09:30:00Z"],
    "any-uri": ["https://example.com", "/path"],
    "decimal-number": ["12.5", "-12", "+.5", "1.", "1e-7"],
    "whole-number": ["9223372036854775808", "-1", "+1", "007"],
}

REFUSED = {
    "date": ["", "tomorrow", "2026-02-29", "2026-13-01", "31.01.2026", "2026-1-31", "2026-01-31T09:30:00Z", "\n"],
    "date-time": [
        "",
        "yesterday",
        "2026-02-30T09:30:00Z",
        "2026-01-31T25:00:00Z",
        "2026-01-31T09:30:00Europe/Paris",
        "2026-01-31T",
        "1769851800",
        "2026-01-31T09:30:00Z\n",
        "٢٠٢٦-01-31T09:30:00Z",
    ],
    "email": ["", "name", "@example.com", "name@", "name @example.com", "Name <name@example.com>"],
    "ipv4": ["", "192.0.2", "192.0.2.256", "2001:db8::1"],
    "ipv6": ["", "192.0.2.1", "2001:db8::g"],
    "time": ["", "noon", "24:00:00", "9:30", "09:60", "2026-01-31T09:30:00Z"],
    "uri": ["", "example.com", "/path", "https://example.com/a b", "https:", "https://example.com\n"],
    "uuid": ["", "123e4567-e89b-12d3-a456-42661417400", "g23e4567-e89b-12d3-a456-426614174000"],
    "any-date": ["", "09:30:00Z", "2026-02-29"],
    "any-time": ["", "noon", "24:00:00"],
    "any-uri": ["", "a b", "a\n"],
    "decimal-number": ["", ".", "1,5", "NaN", "Infinity", "1e", "0x10", "1.5\n"],
    "whole-number": ["", "1.5", "abc", "-", "0x10", "٣"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in FITTING.items() for text in texts])
def test_what_servers_commonly_take_fits(name: str, text: str) -> None:
    assert FORMATS[name].fits(text)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in REFUSED.items() for text in texts])
def test_what_no_server_takes_does_not_fit(name: str, text: str) -> None:
    assert not FORMATS[name].fits(text)


def test_every_format_has_a_text_that_fits_and_one_that_does_not() -> None:
    assert set(FITTING) == set(REFUSED) == set(FORMATS) > set(STANDARD_FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_example_in_the_sentence_of_a_format_fits(name: str) -> None:
    examples = FORMATS[name].expected.partition(", as ")[2].split(" or ")

    assert all(FORMATS[name].fits(example) for example in examples)
