from typing import Any, Literal, Optional

import numpy
import numpy.typing

from ._core import Session as Session, Unavailable as Unavailable, backends as backends
from ._run import Result as Result, RunError as RunError, run as run

__all__ = ["Result", "RunError", "Session", "Unavailable", "backends", "run", "solve"]

def solve(
    u: numpy.ndarray,
    steps: int,
    dt: float = 0.1,
    diffusivity: float = 1.0,
    spacing: float = 1.0,
    boundary: Literal["periodic", "dirichlet", "neumann"] = "periodic",
    backend: str = "simd",
    threads: Optional[int] = None,
    *,
    boundary_value: float = 0.0,
    out: Optional[numpy.ndarray] = None,
    allow_unstable: bool = False,
) -> numpy.ndarray: ...
def load_ipython_extension(ipython: Any) -> None: ...
