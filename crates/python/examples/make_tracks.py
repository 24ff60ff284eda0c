"""Writes the tracks that ship with the package: closed curves in polar coordinates, scaled to a length.

Usage: `python make_tracks.py FOLDER`.
"""

import sys
from pathlib import Path

import numpy as np

# Name: length (m), width (m), and (number of waves, amplitude, phase in rad) of the radius.
TRACKS = {
    "hills": (1500.0, 11.0, [(2, 0.22, 0.3), (3, 0.18, 1.9), (5, 0.10, 0.4), (7, 0.05, 2.2)]),
    "short": (560.0, 8.0, [(2, 0.30, 1.0), (3, 0.16, 0.2), (4, 0.08, 2.5)]),
}

# Distance of the points, m.
POINT_DISTANCE = 4.0


def centre_line(length: float, waves: list[tuple[int, float, float]]) -> np.ndarray:
    """Returns points of the curve at equal distances, shape [points, 2], m."""
    angle = np.linspace(0.0, 2.0 * np.pi, 20_001)
    radius = 1.0 + sum(amplitude * np.cos(number * angle + phase) for number, amplitude, phase in waves)
    curve = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    steps = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    distance = np.concatenate([[0.0], np.cumsum(steps)])
    curve *= length / distance[-1]
    distance *= length / distance[-1]
    at = np.linspace(0.0, length, round(length / POINT_DISTANCE), endpoint=False)
    points = np.column_stack([np.interp(at, distance, curve[:, axis]) for axis in range(2)])
    return points - points.mean(axis=0)


def main() -> None:
    folder = Path(sys.argv[1])
    for name, (length, width, waves) in TRACKS.items():
        points = centre_line(length, waves)
        lines = ["# x_m,y_m,w_tr_right_m,w_tr_left_m"]
        lines += [f"{x:.3f},{y:.3f},{width / 2:.3f},{width / 2:.3f}" for x, y in points]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
