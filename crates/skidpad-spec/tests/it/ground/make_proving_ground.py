"""Makes scenes/proving_ground.obj: a hill of 20 %, a banked curve and mounds. Standard library only. Run it in this folder."""
from math import cos, pi, sin, tan, radians

corners, faces = [], []


def strip(material, points, rows, columns):
    """Adds a grid of `points(row, column)`, x, y and z in m, as triangles seen from above."""
    first = len(corners) + 1
    corners.extend(points(row, column) for row in range(rows) for column in range(columns))
    faces.append(f"usemtl {material}")
    for row in range(rows - 1):
        for column in range(columns - 1):
            a = first + row * columns + column
            b, c, d = a + columns, a + columns + 1, a + 1
            faces.extend((f"f {a} {b} {c}", f"f {a} {c} {d}"))


def slope(x):
    """Of the hill: to 0.2 within 8 m, 7 m at that, back within 8 m; 10 m of level; the same down."""
    up = lambda s: 0.2 * max(0.0, min(s / 8, 1.0, (23 - s) / 8))
    return up(x) - up(56 - x)


def hill(row, column):
    step = 0.05
    height = sum(step * slope((k + 0.5) * step) for k in range(round(row / step)))
    return row, 150 + 8 * (column - 0.5), height if row < 56 else 0.0


def curve(row, column):
    """To the left on 60 m, through 120 degrees; banked by 15 degrees, from nothing and to nothing within 25 m each."""
    length, radius, half = 60 * radians(120), 60.0, 7.0
    along = length * row / 84
    rises = max(0.0, min(1.0, along / 25, (length - along) / 25))
    bank = radians(15) * (0.5 - 0.5 * cos(pi * rises))
    across = half * (column / 2 - 1)
    angle = along / radius
    out = radius - across
    return out * sin(angle), 180 + radius - out * cos(angle), (half - across) * tan(bank)


def mounds(row, column):
    x, y = 0.5 * row, 0.5 * column - 4
    fades = sin(pi * row / 80) * sin(pi * column / 16)
    return x, 210 + y, 0.1 * fades * (1 - cos(2 * pi * x / 5 + 0.4 * y))


strip("asphalt", hill, 57, 2)
strip("asphalt", curve, 85, 5)
strip("gravel", mounds, 81, 17)
with open("../../../../../scenes/proving_ground.obj", "w") as file:
    file.write("# Made by crates/skidpad-spec/tests/it/ground/make_proving_ground.py\n")
    file.writelines(f"v {x:.5f} {y:.5f} {z + 0.0:.5f}\n" for x, y, z in corners)
    file.write("\n".join(faces) + "\n")
