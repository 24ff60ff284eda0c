"""Pictures of a car from above, computed with NumPy."""

from __future__ import annotations

import numpy as np

from skidpad._core import Track

# Size of a picture, pixels.
WIDTH, HEIGHT = 480, 360

# Size of a pixel on the ground, m.
PIXEL_SIZE = 0.15

# Length and width of the drawn car and of its trailer, m.
CAR_LENGTH, CAR_WIDTH = 4.5, 1.9

GRASS = (106, 142, 86)
ASPHALT = (92, 92, 96)
LINE = (236, 236, 230)
GOAL = (240, 190, 60)
BODY = (200, 40, 40)
GLASS = (30, 34, 44)
TRAILER = (206, 206, 200)

# Width of a drawn line, m.
LINE_WIDTH = 0.3


class TopView:
    """Camera above a car, with north (+y) up."""

    def __init__(self, task: str, track: Track | None, parameters: dict[str, float]) -> None:
        self._task = task
        self._radius = parameters.get("radius", 15.0)
        self._max_offset = parameters.get("max_offset", 6.0 if task == "drift_circle" else 4.0)
        columns = (np.arange(WIDTH) - 0.5 * (WIDTH - 1)) * PIXEL_SIZE
        rows = (0.5 * (HEIGHT - 1) - np.arange(HEIGHT)) * PIXEL_SIZE
        self._offset_x, self._offset_y = np.meshgrid(columns, rows)
        self._track = track

    def draw(self, pose: list[float], goal: list[float] | None, trailer: list[float] | None) -> np.ndarray:
        """Returns the picture of a car with `pose` and an optional `goal` and `trailer` (x and y in m, heading in rad),
        uint8, shape [height, width, 3]."""
        x, y = self._offset_x + pose[0], self._offset_y + pose[1]
        picture = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        picture[:] = ASPHALT
        if self._task == "track" and self._track is not None:
            self._draw_track(picture, self._track, x, y)
        elif self._task == "follow_path" and self._track is not None:
            self._draw_path(picture, self._track, x, y, pose)
        elif self._task == "drift_circle":
            offset = np.abs(np.hypot(x, y) - self._radius)
            picture[offset > self._max_offset] = GRASS
            picture[offset < 0.5 * LINE_WIDTH] = LINE
        else:
            self._draw_grid(picture, x, y)
        if goal is not None:
            along, left = _car_axes(x, y, goal)
            frame = (np.abs(along) < 0.5 * CAR_LENGTH + 0.4) & (np.abs(left) < 0.5 * CAR_WIDTH + 0.4)
            inside = (np.abs(along) < 0.5 * CAR_LENGTH + 0.1) & (np.abs(left) < 0.5 * CAR_WIDTH + 0.1)
            picture[frame & ~inside] = GOAL
            picture[inside & (along > 0.5 * CAR_LENGTH - 0.5)] = GOAL
        if trailer is not None:
            along, left = _car_axes(x, y, trailer)
            body = (np.abs(along) < 0.5 * CAR_LENGTH) & (np.abs(left) < 0.5 * CAR_WIDTH)
            drawbar = (along > 0.0) & (along < CAR_LENGTH) & (np.abs(left) < LINE_WIDTH)
            picture[body | drawbar] = TRAILER
        along, left = _car_axes(x, y, pose)
        body = (np.abs(along) < 0.5 * CAR_LENGTH) & (np.abs(left) < 0.5 * CAR_WIDTH)
        picture[body] = BODY
        picture[body & (np.abs(along - 0.45) < 0.45) & (np.abs(left) < 0.4 * CAR_WIDTH)] = GLASS
        return picture

    @staticmethod
    def _draw_track(picture: np.ndarray, track: Track, x: np.ndarray, y: np.ndarray) -> None:
        """Draws the track and its borders from the distance field, interpolated linearly."""
        distances, (origin_x, origin_y), cell = track.distance_field()
        u, v = (x - origin_x) / cell, (y - origin_y) / cell
        column, row = np.floor(u).astype(np.int64), np.floor(v).astype(np.int64)
        inside = (column >= 0) & (row >= 0) & (column < distances.shape[1] - 1) & (row < distances.shape[0] - 1)
        column, row = column[inside], row[inside]
        part_u, part_v = u[inside] - column, v[inside] - row
        low = distances[row, column] * (1.0 - part_u) + distances[row, column + 1] * part_u
        high = distances[row + 1, column] * (1.0 - part_u) + distances[row + 1, column + 1] * part_u
        distance = np.full(x.shape, -1e3)
        distance[inside] = low * (1.0 - part_v) + high * part_v
        picture[distance < 0.0] = GRASS
        picture[np.abs(distance) < LINE_WIDTH] = LINE

    def _draw_path(self, picture: np.ndarray, track: Track, x: np.ndarray, y: np.ndarray, pose: list[float]) -> None:
        """Draws the path and the area beside it, from the distance to each sample in the picture."""
        reach = PIXEL_SIZE * max(WIDTH, HEIGHT)
        samples = track.samples
        near = np.hypot(samples[:, 0] - pose[0], samples[:, 1] - pose[1]) < reach
        offset = np.full(x.shape, np.inf, np.float32)
        for sample_x, sample_y, direction_x, direction_y in samples[near, :4]:
            dx, dy = x - sample_x, y - sample_y
            along = np.abs(dx * direction_x + dy * direction_y)
            left = np.abs(dy * direction_x - dx * direction_y)
            np.minimum(offset, np.where(along < 0.6, left, np.inf), out=offset)
        picture[offset > self._max_offset] = GRASS
        picture[offset < 0.5 * LINE_WIDTH] = LINE

    @staticmethod
    def _draw_grid(picture: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        """Draws a line every 5 m."""
        is_line = (np.abs(np.mod(x, 5.0)) < PIXEL_SIZE) | (np.abs(np.mod(y, 5.0)) < PIXEL_SIZE)
        picture[is_line] = (112, 112, 116)


def _car_axes(x: np.ndarray, y: np.ndarray, pose: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the distances ahead and to the left of a pose (x and y in m, heading in rad) for points, m."""
    cosine, sine = np.cos(pose[2]), np.sin(pose[2])
    dx, dy = x - pose[0], y - pose[1]
    return cosine * dx + sine * dy, cosine * dy - sine * dx
