# SPDX-License-Identifier: Apache-2.0
"""Data files that are damaged or lie: `diffbench mlp train` refuses each with one line that names
the file, exit code 2, and leaves the outputs of an earlier run as they were."""
import gzip
import struct
import unittest

from program import CommandLineTest

IMAGES, LABELS = 0x803, 0x801
PIXELS = bytes(range(0, 240, 20))  # three images of 2x2


def idx(magic, *sizes, data=b"", order=">"):
    return struct.pack(f"{order}{1 + len(sizes)}I", magic, *sizes) + data


GOOD = {"train-images-idx3-ubyte": idx(IMAGES, 3, 2, 2, data=PIXELS),
        "train-labels-idx1-ubyte": idx(LABELS, 3, data=bytes([2, 0, 1])),
        "t10k-images-idx3-ubyte": idx(IMAGES, 3, 2, 2, data=PIXELS),
        "t10k-labels-idx1-ubyte": idx(LABELS, 3, data=bytes([0, 1, 2]))}

BAD_IDX = [  # the file, what it holds instead, what the message says
    ("train-images-idx3-ubyte", GOOD["train-images-idx3-ubyte"][:-1], "ends before"),
    ("train-images-idx3-ubyte", b"", "ends before"),
    ("train-images-idx3-ubyte", idx(IMAGES, 3, 2, 2, data=PIXELS, order="<"), "03080000"),
    ("train-images-idx3-ubyte", idx(LABELS, 3, data=PIXELS), "magic number"),
    ("train-images-idx3-ubyte", idx(IMAGES, 3, 2, 2, data=PIXELS + b"x"), "longer"),
    ("train-images-idx3-ubyte", idx(IMAGES, 0, 2, 2), "0 images"),
    ("train-images-idx3-ubyte", idx(IMAGES, 3, 65535, 65535), "pixels"),
    ("train-labels-idx1-ubyte", idx(LABELS, 2, data=bytes(2)), "2 labels for 3 images"),
    ("t10k-labels-idx1-ubyte", idx(LABELS, 4294967295), "4294967295 labels"),
    ("t10k-images-idx3-ubyte", idx(IMAGES, 3, 1, 2, data=bytes(6)), "differ in size"),
    ("t10k-images-idx3-ubyte", gzip.compress(GOOD["t10k-images-idx3-ubyte"])[:-12], "t10k-images"),
]


class BadFiles(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.path("kept.json").write_bytes(b'{"executable": "diffbench"} of an earlier run')

    def assert_named(self, name, words, *arguments):
        """Outputs are named, too: none of them may be touched."""
        with self.subTest(words, arguments=arguments):
            self.assert_refused(2, [name, words], "mlp", "train", "--epochs", "1", "--batch", "3",
                                *arguments, "--json", "kept.json")

    def write_images(self, files):
        self.path("images").mkdir(exist_ok=True)
        for name, data in files.items():
            self.path("images").joinpath(name).write_bytes(data)
        return "--data", "mnist", "--data-dir", "images"

    def test_idx(self):
        for name, data, words in BAD_IDX:
            self.assert_named("images", words, *self.write_images({**GOOD, name: data}))
        self.run_ok("mlp", "train", *self.write_images(GOOD), "--batch", "3", "--engine", "cpu",
                    "--layers", "4,3")

    def test_labels_that_the_network_has_no_output_for(self):
        self.assert_named("mnist", "3 classes", *self.write_images(GOOD), "--layers", "4,8,2")


if __name__ == "__main__":
    unittest.main()
