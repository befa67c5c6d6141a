"""Bars as SVG, without a library: readable in a light and in a dark page."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

ROW, LABELS, BARS, TOP = 24, 330, 420, 44
STYLE = "text{font:13px sans-serif;fill:#808080}rect{fill:#4a7fb5}"


def bars(title: str, values: Mapping[str, float]) -> str:
    """One bar for each value, the longest over the whole width."""
    most = max(values.values())
    height = TOP + ROW * len(values)
    rows = "".join(
        _bar(name, value, place, width=BARS * value / most) for place, (name, value) in enumerate(values.items())
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABELS + BARS + 60}" height="{height}" role="img">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
        f'<text x="{LABELS}" y="24">{escape(title)}</text>{rows}</svg>\n'
    )


def _bar(name: str, value: float, place: int, *, width: float) -> str:
    y = TOP + ROW * place
    return (
        f'<text x="{LABELS - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
        f'<rect x="{LABELS}" y="{y + 2}" width="{width:.1f}" height="{ROW - 8}"/>'
        f'<text x="{LABELS + width + 6:.1f}" y="{y + 14}">{value:.1f}</text>'
    )
