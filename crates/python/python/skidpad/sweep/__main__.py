"""Command `python -m skidpad.sweep`: runs shards of a sweep, or merges them."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skidpad.sweep.description import Sweep
from skidpad.sweep.executors import Report, run_on_ray, run_on_threads
from skidpad.sweep.merging import TABLE_NAME, merge

# Exit status after an interrupt, as shells use it.
INTERRUPTED = 130


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the arguments of the command. Exits with a message if they are faulty."""
    parser = argparse.ArgumentParser("python -m skidpad.sweep", description=__doc__)
    parser.add_argument("sweep", type=Path, help="manifest.json of a folder, or description in TOML")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder of the shards")
    parser.add_argument("--shard", type=part, default=(1, 1), metavar="I/N", help="part I of N of the shards, from 1/N")
    parser.add_argument("--threads", type=positive, metavar="T", help="number of threads; that of all processors")
    parser.add_argument("--ray", type=positive, nargs="?", const=2, metavar="W", help="run on Ray, with W workers (2)")
    parser.add_argument("--merge", action="store_true", help="only join all shards into one table")
    return parser.parse_args(arguments)


def part(text: str) -> tuple[int, int]:
    """Returns the numbers of a part such as `3/64`."""
    first, _, count = text.partition("/")
    if not (first.isdecimal() and count.isdecimal() and 1 <= int(first) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is no part such as 3/64, from 1/64 to 64/64")
    return int(first), int(count)


def positive(text: str) -> int:
    """Returns a number from 1 on."""
    if not (text.isdecimal() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def execute(arguments: argparse.Namespace) -> str:
    """Runs or merges shards. Returns the text of the result."""
    sweep = Sweep.load(arguments.sweep)
    if arguments.merge:
        table = merge(arguments.out, sweep)
        return f"{len(table)} runs, {len(table.column_names)} columns: {arguments.out / TABLE_NAME}"
    number, count = arguments.shard
    shards = range(number - 1, sweep.shard_count, count)
    if arguments.ray:
        report = run_on_ray(sweep, arguments.out, workers=arguments.ray, shards=shards)
    else:
        report = run_on_threads(sweep, arguments.out, threads=arguments.threads, shards=shards)
    return summary(report)


def summary(report: Report) -> str:
    """Returns a report as one line."""
    text = f"{len(report.written)} shards written, {len(report.kept)} were complete"
    if report.torn:
        text += f", {len(report.torn)} replaced that were torn"
    return text + (f"; {report.faulty_runs} runs have a fault: see the column `fault`" if report.faulty_runs else "")


def interrupt(*_: Any) -> None:
    """Handles a request to terminate, as schedulers send it, like Ctrl-C."""
    raise KeyboardInterrupt


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status: 0, 1 after a fault, 130 after an interrupt."""
    parsed = parse(arguments)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        print(execute(parsed))
        return 0
    except KeyboardInterrupt:
        print("stopped; all files are complete. Run the command again to continue.", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
