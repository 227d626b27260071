#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""h5py reads our checkpoints as what they are, and we read what it has edited: h5py_test.py PROGRAM"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

try:
    import h5py
except ImportError:
    print("skipped: this python3 has no h5py (python3-h5py)")
    sys.exit(77)

FACTS = {
    "format": "diffbench checkpoint 3", "step": 123_456_789_012, "nx": 5, "ny": 3, "spacing": 0.5,
    "diffusivity": 1.25, "dt": 0.03125, "boundary": "dirichlet", "boundary_value": -0.1,
    "initial": "gauss:0.3, with an umlaut ä", "digest": "sha256:0123", "version": "0.1.0 (test)",
}


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        for dtype in "float32", "float64":
            path = Path(directory) / f"{dtype}.h5"
            subprocess.run([program, "write", path, dtype], check=True)
            with h5py.File(path) as file:
                assert list(file) == ["u"], list(file)
                attributes = {name: value.decode() if isinstance(value, bytes) else value
                              for name, value in file.attrs.items()}
                assert attributes == {**FACTS, "dtype": dtype}, attributes
                text = h5py.check_string_dtype(file.attrs.get_id("initial").dtype)
                assert (text.encoding, text.length) == ("utf-8", len(FACTS["initial"].encode())), text
                u = file["u"]
                assert u.dtype == np.dtype(dtype).newbyteorder("<"), u.dtype
                assert u.chunks is None, u.chunks
                cells = (np.arange(15) + 1 / 3).astype(dtype).reshape(3, 5)
                assert np.array_equal(u[...], cells), u[...]
            with h5py.File(path, "a") as file:
                file.attrs["step"] = 7
                file.attrs["dt"] = 0.5
                file.attrs["boundary"] = np.bytes_("neumann")
            read = subprocess.run([program, "read", path], check=True, capture_output=True, text=True)
            assert read.stdout == "7 0.5 neumann\n", read.stdout


if __name__ == "__main__":
    main(sys.argv[1])
