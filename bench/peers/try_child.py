# SPDX-License-Identifier: Apache-2.0
"""The process in which a Python submission of `diffbench try` runs: the twin of diffbench_try_child.

    python3 try_child.py FILE.py SHARED_FD

stdin is a socket: a line comes in, a line goes back (judge/tried_process.cpp). The fields are in
the shared memory SHARED_FD, where the parent put them. FILE has step(u, factor), which returns the new
array, or solve(u, steps, factor).
"""
import importlib.util
import io
import mmap
import os
import sys
import traceback

import numpy as np


class Channel:
    """What the submission prints goes elsewhere."""

    def __init__(self):
        self.file = os.fdopen(os.dup(0), "r+b", buffering=0)
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        self.received = b""

    def read(self):
        while b"\n" not in self.received:
            part = self.file.read(4096)
            if not part:
                return None
            self.received += part
        line, self.received = self.received.split(b"\n", 1)
        return line.decode()

    def write(self, text):
        self.file.write(text.replace("\n", " ").encode() + b"\n")


class Unlimited(io.RawIOBase):
    """A file of which only the first part is kept: what is printed beyond it is lost, and no error."""

    def writable(self):
        return True

    def write(self, data):
        try:
            os.write(1, data)
        except OSError:
            pass
        return len(data)


class Session:
    def __init__(self, module, shared, words):
        form, dtype, nx, ny, _boundary, _value, factor, place_in, place_out, *_ = words
        self.function = getattr(module, form)
        self.form = form
        shape = (int(ny), int(nx))
        self.u, self.out = (np.ndarray(shape, dtype, shared, int(place))
                            for place in (place_in, place_out))
        self.u.flags.writeable = False
        self.factor = self.u.dtype.type(float(factor))

    def run(self, steps):
        if self.form == "solve":
            result = self.checked(self.function(self.u, steps, self.factor))
        else:
            result = self.u
            for _ in range(steps):
                result = self.checked(self.function(result, self.factor))
        self.out[...] = result

    def checked(self, result):
        """As an array of NumPy's that cannot be written."""
        if hasattr(result, "__dlpack__") and not isinstance(result, np.ndarray):
            result = np.from_dlpack(result)
        if not isinstance(result, np.ndarray):
            raise TypeError(f"{self.form} returned {type(result).__name__}, not an array")
        if result.shape != self.out.shape:
            raise TypeError(f"{self.form} returned an array of shape {result.shape}, the field has "
                            f"{self.out.shape}")
        if result.dtype != self.out.dtype:
            raise TypeError(f"{self.form} returned {result.dtype}, the field is {self.out.dtype}: a "
                            "constant of the other type changes it")
        result = result.view()
        result.flags.writeable = False
        return result


def where(failure, file):
    """The line of the submission in which it failed."""
    lines = [frame.lineno for frame in traceback.extract_tb(failure.__traceback__)
             if frame.filename == file]
    return f" in line {lines[-1]}" if lines else ""


# Of exceptions: a GPU's or a package's that is not here. Whether the submission is right is then not known.
LACKING = ("libnvvm", "nvvm support", "cuda driver", "nvidia driver", "nvidia gpu", "no cuda", "cudaerrornodevice",
           "cudaerrorinsufficientdriver", "cuda_error_no_device", "not compiled with cuda", "libcuda", "libcudart",
           "libnvrtc", "cuda is not available", "gpu is not available", "cuda support", "cuda_home")


def complaint(failure, file):
    text = f"{type(failure).__name__}{where(failure, file)}: {failure}"
    small = text.lower()
    lacks = isinstance(failure, ImportError) or any(word in small for word in LACKING)
    return f"error {'lacking ' if lacks else ''}{text}"


def main():
    channel = Channel()
    sys.stdout = sys.stderr = io.TextIOWrapper(io.BufferedWriter(Unlimited()), errors="replace", write_through=True)
    file = sys.argv[1]
    sys.path.insert(0, os.path.dirname(file))
    try:
        specification = importlib.util.spec_from_file_location("submission", file)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        shared = mmap.mmap(int(sys.argv[2]), 0)
    except BaseException as failure:
        channel.write(complaint(failure, file))
        return 1
    channel.write("ready")
    session = None
    while (line := channel.read()) is not None:
        verb, *words = line.split()
        answer = "done"
        try:
            if verb == "open":
                session = Session(module, shared, words)
            elif verb == "run":
                session.run(int(words[0]))
            elif verb == "close":
                session = None
            else:
                answer = f"{verb} null"
        except BaseException as failure:
            answer = complaint(failure, file)
        channel.write(answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
