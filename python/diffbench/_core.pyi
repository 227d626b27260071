# SPDX-License-Identifier: Apache-2.0
# Types for checkers; the docstrings are in the module.
from typing import Any, Dict, List, Literal, Optional, Tuple

import numpy
import numpy.typing

Boundary = Literal["periodic", "dirichlet", "neumann"]

class Unavailable(RuntimeError): ...

def backends() -> List[Dict[str, Any]]: ...
def solve(
    u: numpy.ndarray,
    steps: int,
    dt: float = 0.1,
    diffusivity: float = 1.0,
    spacing: float = 1.0,
    boundary: Boundary = "periodic",
    backend: str = "simd",
    threads: Optional[int] = None,
    *,
    boundary_value: float = 0.0,
    out: Optional[numpy.ndarray] = None,
    allow_unstable: bool = False,
) -> numpy.ndarray: ...

class Session:
    def __init__(
        self,
        shape: Tuple[int, int],
        dtype: numpy.typing.DTypeLike = "float32",
        *,
        dt: float = 0.1,
        diffusivity: float = 1.0,
        spacing: float = 1.0,
        boundary: Boundary = "periodic",
        boundary_value: float = 0.0,
        backend: str = "simd",
        threads: Optional[int] = None,
        allow_unstable: bool = False,
    ) -> None: ...
    def upload(self, u: numpy.ndarray) -> None: ...
    def advance(self, steps: int) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> "Session": ...
    def __exit__(self, *args: Any) -> None: ...
    def download(self, out: Optional[numpy.ndarray] = None) -> numpy.ndarray: ...
    def provenance(self) -> Dict[str, Any]: ...
    @property
    def steps(self) -> int: ...
    @property
    def shape(self) -> Tuple[int, int]: ...
    @property
    def dtype(self) -> str: ...
