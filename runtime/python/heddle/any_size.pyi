from collections.abc import Mapping, Sequence
from typing import Any
from heddle.model import Result, Session
from heddle.network import Array, Machine, Path

class AnySize:
    path: Path
    device: str
    machine: Machine
    most: int
    compiled: int
    def __init__(self, network: Path, device: str = "iss", *, machine: Machine = "base",
                 most: int = 4, rounding: str | None = None, **options: Any) -> None: ...
    def session(self, shapes: Mapping[str, Sequence[int]]) -> Session: ...
    def run(self, *inputs: Array, out: Any = None, **named: Array) -> Result: ...
