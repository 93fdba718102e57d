from typing import Any

class Error(Exception):
    status: str | None
    node: str | None
    reason: str | None

def __getattr__(name: str) -> Any: ...  # the C half: used by the package alone
