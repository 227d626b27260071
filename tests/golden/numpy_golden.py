# SPDX-License-Identifier: Apache-2.0
"""NumPy's side of the golden tests.

  numpy_golden.py reference DIR DTYPE   advance the fields listed in DIR/cases.csv
  numpy_golden.py npy DIR               read our .npy files, save them in every format version
  numpy_golden.py pinned                print the digests that pinned_test.cpp holds
"""
import csv
import pathlib
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("numpy is missing: apt install python3-numpy, and configure with "
             "-DPython3_EXECUTABLE=/usr/bin/python3")


def step_periodic(u, factor):
    lap = np.roll(u, +1, 0) + np.roll(u, -1, 0) + np.roll(u, +1, 1) + np.roll(u, -1, 1) - 4 * u
    return u + factor * lap


def step_padded(u, factor, **pad):
    """The same with ghost cells; neighbours in the order of the rolls above."""
    p = np.pad(u, 1, **pad)
    lap = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u
    return u + factor * lap


def advance(u, case, steps):
    factor = u.dtype.type(float(case["dt"]) * float(case["diffusivity"]) / float(case["spacing"])**2)
    ghosts = {
        "dirichlet": {"mode": "constant", "constant_values": float(case["boundary_value"])},
        "neumann": {"mode": "edge"},
    }
    for _ in range(steps):
        if case["boundary"] == "periodic":
            u = step_periodic(u, factor)
        else:
            u = step_padded(u, factor, **ghosts[case["boundary"]])
    return u


def reference(directory, dtype):
    with open(directory / "cases.csv", newline="", encoding="ascii") as file:
        cases = [case for case in csv.DictReader(file) if case["dtype"] == dtype]
    for case in cases:
        u = np.load(directory / f"{case['name']}.npy")
        assert u.dtype == dtype and u.flags.c_contiguous, case
        done = 0
        for steps in map(int, case["steps"].split()):
            u = advance(u, case, steps - done)
            done = steps
            np.save(directory / f"{case['name']}_{steps}.npy", u)
    print(f"numpy {np.__version__}: {len(cases)} cases of {dtype}")


def hashed_field(shape, dtype):
    """Knuth's multiplicative hash of the index, as hashed_field.hpp: exact in float64."""
    index = np.arange(shape[0] * shape[1], dtype=np.uint64)
    return (index * 2654435761 % 2**32 / 2**32).astype(dtype).reshape(shape)


def npy(directory):
    for dtype in ("float32", "float64"):
        ours = np.load(directory / f"ours_{dtype}.npy")
        expected = hashed_field((5, 7), dtype)
        assert ours.dtype == dtype and ours.shape == (5, 7) and ours.flags.c_contiguous
        assert ours.tobytes() == expected.tobytes()
        for version in (1, 2, 3):
            with open(directory / f"v{version}_{dtype}.npy", "wb") as file:
                np.lib.format.write_array(file, ours, version=(version, 0))
        np.save(directory / f"fortran_{dtype}.npy", np.asfortranarray(ours))
        np.save(directory / f"bigendian_{dtype}.npy", ours.astype(ours.dtype.newbyteorder(">")))


def digest(data):
    """FNV-1a, as pinned_test.cpp."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def pinned():
    print(f"numpy {np.__version__}")
    for dtype in ("float32", "float64"):
        for boundary in ("periodic", "dirichlet", "neumann"):
            case = {"boundary": boundary, "boundary_value": 0.3, "dt": 0.2, "diffusivity": 0.7,
                    "spacing": 0.9}
            u = advance(hashed_field((48, 64), dtype), case, 100)
            assert u.dtype == dtype
            print(dtype, boundary, hex(digest(u.tobytes())))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "reference":
        reference(pathlib.Path(arguments[0]), arguments[1])
    elif command == "npy":
        npy(pathlib.Path(arguments[0]))
    else:
        pinned()
