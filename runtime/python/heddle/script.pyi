from collections.abc import Callable, Sequence
from heddle.graph import Graph, Tensor

NAMES: dict[int, tuple[str, ...]]

def build(network: Callable[[Graph, Tensor], Tensor], name: str, shape: Sequence[int], seed: int,
          training: bool) -> Graph: ...
def main(path: str, folder: str, seed: str, batch: str, *dimensions: str) -> None: ...
