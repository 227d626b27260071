# SPDX-License-Identifier: Apache-2.0
"""Initial fields that cannot be used: exit code 2 and one line with the file and what is wrong.
The run asks for 6x4 cells of float32."""
import unittest

from program import CommandLineTest, floats, npy_bytes

SHAPE = (4, 6)  # rows, columns
CELLS = [0.25 * i for i in range(24)]
GOOD = floats(CELLS)
NAN, INFINITY = float("nan"), float("inf")


def header(text, **rest):
    return npy_bytes(GOOD, None, header=text, **rest)


# What is wrong, the file's bytes, and a word of the message that tells it.
REFUSED = [
    ("empty", b"", "empty"),
    ("wrong magic", b"PK\x03\x04" + npy_bytes(GOOD, SHAPE)[4:], "magic"),
    ("a text", b"0.1 0.2 0.3\n" * 8, "magic"),
    ("only a part of the magic", b"\x93NUM", "magic"),
    ("unknown version", npy_bytes(GOOD, SHAPE, version=(9, 0)), "9.0"),
    ("no header size", npy_bytes(GOOD, SHAPE)[:9], "ends inside"),
    ("truncated header", npy_bytes(GOOD, SHAPE)[:30], "ends inside"),
    ("huge header", npy_bytes(GOOD, SHAPE, version=(2, 0), header_size=2**32 - 1), "4294967295"),
    ("header of zeros", npy_bytes(GOOD, SHAPE, header="\0" * 60), "header"),
    ("header that is code", header("__import__('os').system('touch hacked')"), "header"),
    ("no shape", header("{'descr': '<f4', 'fortran_order': False, }"), "lacks"),
    ("unclosed dict", header("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6)"), "header"),
    ("negative extent", npy_bytes(GOOD, (-4, 6)), "shape"),
    ("extent beyond 64 bits", npy_bytes(GOOD, (2**64, 6)), "64 bits"),
    ("product beyond 64 bits", npy_bytes(GOOD, (2**33, 2**33)), "shape"),
    ("no dimensions", npy_bytes(GOOD, ()), "0-D"),
    ("1-D", npy_bytes(GOOD, (24,)), "1-D"),
    ("3-D", npy_bytes(GOOD, (2, 2, 6)), "3-D"),
    ("Fortran order, swapped", npy_bytes(GOOD, (6, 4), fortran_order=True), "6x4"),
    ("Fortran order, too short", npy_bytes(GOOD[:-4], SHAPE, fortran_order=True), "96 bytes"),
    ("big-endian", npy_bytes(GOOD, SHAPE, ">f4"), ">f4"),
    ("integers", npy_bytes(GOOD, SHAPE, "<i4"), "<i4"),
    ("half precision", npy_bytes(GOOD, SHAPE, "<f2"), "<f2"),
    ("complex numbers", npy_bytes(GOOD, SHAPE, "<c8"), "<c8"),
    ("pickled objects", npy_bytes(GOOD, SHAPE, "|O"), "|O"),
    ("a structured array", header("{'descr': [('u', '<f4')], 'fortran_order': False, "
                                  "'shape': (4, 6), }"), "structured"),
    ("float64 in a float32 run", npy_bytes(floats(CELLS, "d"), SHAPE, "<f8"), "--dtype float64"),
    ("rows and columns swapped", npy_bytes(GOOD, (6, 4)), "6x4"),
    ("another size", npy_bytes(floats([0.0] * 9), (3, 3)), "3"),
    ("truncated data", npy_bytes(GOOD[:-1], SHAPE), "96 bytes"),
    ("no data", npy_bytes(b"", SHAPE), "96 bytes"),
    ("data too long", npy_bytes(GOOD + b"\0", SHAPE), "97"),
    ("NaN", npy_bytes(floats(CELLS[:-1] + [NAN]), SHAPE), "finite"),
    ("infinity", npy_bytes(floats([INFINITY] + CELLS[1:]), SHAPE), "finite"),
]


class BadNpy(CommandLineTest):
    def refuse(self, word):
        self.assert_refused(2, ["bad.npy", word], "--grid", "6x4", "--init", "bad.npy", "--backend",
                            "scalar", "--json", "out.json")

    def test_each_is_refused_in_one_line(self):
        for what, content, word in REFUSED:
            with self.subTest(what):
                self.path("bad.npy").write_bytes(content)
                self.refuse(word)

    def test_a_missing_file_and_a_directory(self):
        self.refuse("no such file")
        self.path("bad.npy").mkdir()
        self.refuse("regular file")

    def test_the_good_one_is_taken(self):
        """Or the refusals above would prove nothing."""
        self.path("good.npy").write_bytes(npy_bytes(GOOD, SHAPE))
        self.run_ok("--grid", "6x4", "--init", "good.npy", "--backend", "scalar", "--baseline",
                    "scalar", "--iters", "5", "--budget", "0.01")

    def test_fortran_order_is_the_same_field(self):
        columns = floats([CELLS[y * 6 + x] for x in range(6) for y in range(4)])
        saved = []
        for content in (npy_bytes(GOOD, SHAPE), npy_bytes(columns, SHAPE, fortran_order=True)):
            self.path("field.npy").write_bytes(content)
            self.run_ok("run", "--grid", "6x4", "--init", "field.npy", "--iters", "5", "--save", "out.npy")
            saved.append(self.path("out.npy").read_bytes())
        self.assertEqual(*saved)


if __name__ == "__main__":
    unittest.main()
