from typing import Any, Dict, List, Literal, Optional, Tuple

import numpy
import numpy.typing

class Unavailable(RuntimeError): ...

def backends() -> List[Dict[str, Any]]:
    """Name, description, device, threaded, available and reason (why it is not) of every backend."""

class Session:
    """One problem on one device, for many calls. Calls from several threads take turns; a forked child makes its own."""

    def __init__(
        self,
        shape: Tuple[int, int],
        dtype: numpy.typing.DTypeLike = "float32",
        *,
        dt: float = 0.1,
        diffusivity: float = 1.0,
        spacing: float = 1.0,
        boundary: Literal["periodic", "dirichlet", "neumann"] = "periodic",
        boundary_value: float = 0.0,
        backend: str = "simd",
        threads: Optional[int] = None,
        allow_unstable: bool = False,
    ) -> None: ...
    def upload(self, u: numpy.ndarray) -> None:
        """Begins anew from u: (ny, nx) in the session's dtype. Copies; u is free afterwards."""
    def advance(self, steps: int) -> None:
        """Advances, and blocks until it is done. After Ctrl-C the field is that after `steps` steps."""
    def download(self, out: Optional[numpy.ndarray] = None) -> numpy.ndarray:
        """The field, in `out` or a new array."""
    def provenance(self) -> Dict[str, Any]:
        """What really ran: threads, instruction set, ..."""
    @property
    def steps(self) -> int:
        """Steps since the upload."""
    @property
    def shape(self) -> Tuple[int, int]: ...
    @property
    def dtype(self) -> str: ...
