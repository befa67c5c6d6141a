from __future__ import annotations

import pytest

from handler.bundle.content import expanded_chars, fill_prompt


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("Hello {{name}}!", {"name": "Ada"}, "Hello Ada!"),
        ("{{a}}{{a}}-{{b}}", {"a": "1", "b": "2"}, "11-2"),
        ("[{{a}}]", {}, "[]"),
        (r"\{{a}} {{a}}", {"a": "1"}, "{{a}} 1"),
        ("{{a}} {{b}}", {"a": "{{b}}", "b": r"\{{a}} \1 \g<0>"}, r"{{b}} \{{a}} \1 \g<0>"),
        ("{a} {{a b}} }}", {"a": "1"}, "{a} {{a b}} }}"),
    ],
)
def test_values_stand_where_the_template_has_their_names_and_are_not_read_again(
    template: str, values: dict[str, str], text: str
) -> None:
    assert fill_prompt(template, values) == text
    assert len(text) <= expanded_chars(template, values)


def test_length_is_told_before_the_text_is_made() -> None:
    assert expanded_chars("{{a}}" * 1_000, {"a": "x" * 1_000_000}) == 1_000_005_000
