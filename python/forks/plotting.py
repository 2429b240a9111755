"""Line plots for notebooks, without further packages."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping

import numpy as np

_COLOURS = ("#2a6fbb", "#c8553d", "#3c8d53", "#8a5fb0", "#b98a1f", "#4d4d4d")


class Plot:
    """Lines over a common axis; a notebook shows it, `save` writes SVG.

    x: (n,). lines: name to (n,). Numbers that are not finite leave gaps.
    """

    def __init__(
        self,
        x: np.ndarray,
        lines: Mapping[str, np.ndarray],
        *,
        x_label: str = "time (s)",
        y_label: str = "",
        title: str = "",
    ) -> None:
        self.x = np.asarray(x, dtype=np.float64)
        if self.x.ndim != 1 or self.x.size == 0:
            raise ValueError(f"x has shape {self.x.shape}, expected (n,) with n above 0")
        self.lines = {name: np.asarray(y, dtype=np.float64) for name, y in lines.items()}
        for name, y in self.lines.items():
            if y.shape != self.x.shape:
                raise ValueError(f"line '{name}' has shape {y.shape}, expected {self.x.shape}")
        self.x_label, self.y_label, self.title = x_label, y_label, title

    def to_svg(self, width: int = 640, height: int = 320) -> str:
        """The picture as text."""
        left, right, top, bottom = 64, 12, 28, 44
        inner_w, inner_h = width - left - right, height - top - bottom
        numbers = [y[np.isfinite(y)] for y in self.lines.values()]
        joined = np.concatenate(numbers) if numbers else np.zeros(0)
        x0, x1 = _span(self.x[np.isfinite(self.x)])
        y0, y1 = _span(joined)

        def place(x: float, y: float) -> tuple[float, float]:
            return (
                left + (x - x0) / (x1 - x0) * inner_w,
                top + (y1 - y) / (y1 - y0) * inner_h,
            )

        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            f'<text x="{left}" y="17" font-size="13">{html.escape(self.title)}</text>',
        ]
        for tick in _ticks(x0, x1):
            x, _ = place(tick, y0)
            out.append(f'<path d="M{x:.1f} {top}V{top + inner_h}" stroke="#e3e3e3"/>')
            out.append(
                f'<text x="{x:.1f}" y="{top + inner_h + 15}" text-anchor="middle">{tick:.6g}</text>'
            )
        for tick in _ticks(y0, y1):
            _, y = place(x0, tick)
            out.append(f'<path d="M{left} {y:.1f}H{left + inner_w}" stroke="#e3e3e3"/>')
            out.append(
                f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">{tick:.4g}</text>'
            )
        for i, (name, ys) in enumerate(self.lines.items()):
            colour = _COLOURS[i % len(_COLOURS)]
            path, pen = [], "M"
            for x, y in zip(self.x, ys):
                if math.isfinite(x) and math.isfinite(y):
                    px, py = place(float(x), float(y))
                    path.append(f"{pen}{px:.2f} {py:.2f}")
                    pen = "L"
                else:
                    pen = "M"
            out.append(f'<path d="{"".join(path)}" fill="none" stroke="{colour}"/>')
            out.append(
                f'<text x="{left + inner_w - 4}" y="{top + 13 * (i + 1)}" text-anchor="end" '
                f'fill="{colour}">{html.escape(name)}</text>'
            )
        out.append(
            f'<text x="{left + inner_w / 2}" y="{height - 8}" text-anchor="middle">'
            f"{html.escape(self.x_label)}</text>"
        )
        out.append(
            f'<text transform="translate(14 {top + inner_h / 2}) rotate(-90)" '
            f'text-anchor="middle">{html.escape(self.y_label)}</text></svg>'
        )
        return "".join(out)

    def save(self, path: str) -> None:
        """Writes an SVG file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_svg())

    def _repr_html_(self) -> str:
        return self.to_svg()

    def __repr__(self) -> str:
        return f"<forks.Plot: {', '.join(self.lines)} over {self.x.size} points>"


def _span(x: np.ndarray) -> tuple[float, float]:
    if x.size == 0:
        return 0.0, 1.0
    low, high = float(x.min()), float(x.max())
    margin = 0.0 if high > low else max(abs(low), 1.0) * 0.5
    return low - margin, high + margin


def _ticks(low: float, high: float) -> list[float]:
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
