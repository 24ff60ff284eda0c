"""Error of sweeps."""

from __future__ import annotations

from collections.abc import Sequence


class SweepError(ValueError):
    """Faults of a sweep, of its folder or of its shards.

    Attributes:
        faults: every fault as a text.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        """Takes the texts of all faults."""
        super().__init__("\n".join(faults))
        self.faults = list(faults)

    def __reduce__(self) -> tuple[type[SweepError], tuple[list[str]]]:
        """Returns what pickles restore, so that the error crosses processes."""
        return SweepError, (self.faults,)
