# SPDX-License-Identifier: Apache-2.0
"""The fused loop in Halide, scheduled by hand: vectors, bands of rows on threads, several steps a
call. Of a tile of the last step all earlier steps are computed, into buffers that fit the second
cache, so a field larger than the caches goes to memory once a call. Neighbouring tiles compute the
ghost cells between them twice.

Halide contracts and reorders floating point unless the target says StrictFloat; so the bits are
NumPy's. The code is compiled for the field's size, before anything is timed.
"""
import math
import re

import halide as hl
import numpy as np
from placement import zeros_beside

# Time steps of the compiled pipelines. With 16 the one for fixed boundaries takes 15 s to compile
# and is no faster at 640x640.
STEPS = (8, 4, 2, 1)
# Cells. Whole rows are faster, as only their ends need the boundary; wide ones do not fit the cache.
MOST_ROWS, MOST_COLUMNS, WIDEST_WHOLE_ROW = 128, 256, 1024

x, y, tile_x, tile_y, in_x, in_y = map(hl.Var, ("x", "y", "tile_x", "tile_y", "in_x", "in_y"))
EVERYWHERE = (hl.Expr(), hl.Expr())


def library():
    """The module does not say its version; the library's name does: libHalide14.so.0."""
    with open("/proc/self/maps") as maps:
        found = re.search(r"libHalide\S*", maps.read())
    return found[0] if found else "unknown"


def parts(cells, count, multiple=1):
    """The size of each of `count` equal parts that cover so many cells."""
    return multiple * math.ceil(cells / (count * multiple))


class Tiles:
    """Equal tiles: the storage is a little larger than the field, and what lies outside is computed
    but never read. Tiles that end within the field make Halide test for its edge in every vector,
    which costs a factor of 2 to 5."""

    def __init__(self, rows, columns, vector, threads):
        across = 1 if columns <= WIDEST_WHOLE_ROW else math.ceil(columns / MOST_COLUMNS)
        bands = threads * math.ceil(rows / (MOST_ROWS * threads))
        self.whole_rows = across == 1
        self.rows, self.columns = parts(rows, bands), parts(columns, across, vector)
        self.storage = (bands * self.rows, across * self.columns)


class Pipeline:
    """So many time steps of the field."""

    def __init__(self, steps, like, start, tiles, target):
        self.target, self.tiles = target, tiles
        self.rows, self.columns = like.shape
        number = {4: hl.f32, 8: hl.f64}[like.itemsize]
        factor, four = number(float(like.dtype.type(start["factor"]))), number(4.0)
        self.boundary = start["boundary"]
        self.outside = number(float(like.dtype.type(start["boundary_value"])))

        self.initial = hl.ImageParam(hl.Float(8 * like.itemsize), 2)
        self.stages = []
        for _ in range(steps):
            u = self.with_boundary(self.stages[-1] if self.stages else self.initial)
            lap = u[x, y - 1] + u[x, y + 1] + u[x - 1, y] + u[x + 1, y] - four * u[x, y]
            stage = hl.Func()
            stage[x, y] = u[x, y] + factor * lap
            self.stages.append(stage)
        self.schedule(target.natural_vector_size(self.initial.type()))
        self.stages[-1].compile_jit(target)

    def with_boundary(self, u):
        columns, rows = (0, self.columns), (0, self.rows)
        if self.boundary == "dirichlet":
            return hl.BoundaryConditions.constant_exterior(u, self.outside, [columns, rows])
        if self.boundary == "neumann":
            return hl.BoundaryConditions.repeat_edge(u, [columns, rows])
        # A periodic field goes on outside: later steps are computed there, too. Only in whole rows
        # it is cheaper to wrap round in every step.
        if self.stages:
            rows = EVERYWHERE
            columns = columns if self.tiles.whole_rows else EVERYWHERE
        return hl.BoundaryConditions.repeat_image(u, [columns, rows])

    def schedule(self, vector):
        tiles, last = self.tiles, self.stages[-1]
        rows, columns = tiles.storage
        for buffer in (self.initial, last.output_buffer()):
            buffer.dim(0).set_bounds(0, columns)
            buffer.dim(1).set_bounds(0, rows).set_stride(columns)
        last.tile(x, y, tile_x, tile_y, in_x, in_y, tiles.columns, tiles.rows)
        last.vectorize(in_x, vector).parallel(tile_y)
        # Rounded up, a tile's ghost cells would grow by a vector in every step.
        tail = hl.TailStrategy.RoundUp if tiles.whole_rows else hl.TailStrategy.ShiftInwards
        for stage in self.stages[:-1]:
            stage.compute_at(last, tile_x).vectorize(x, vector, tail).align_storage(x, vector)

    def run(self, now, after):
        self.initial.set(now)
        self.stages[-1].realize(after, self.target)


class Peer:
    def __init__(self, start):
        self.initial = np.load(start["initial"])
        target = hl.get_host_target().with_feature(hl.TargetFeature.StrictFloat)
        vector = target.natural_vector_size(hl.Float(8 * self.initial.itemsize))
        tiles = Tiles(*self.initial.shape, vector, start["threads"])
        # Halide's first dimension is the one that lies together.
        field = np.zeros(tiles.storage, self.initial.dtype)
        self.now, self.after = hl.Buffer(field.T), hl.Buffer(zeros_beside(field).T)
        if self.initial.itemsize * math.prod(tiles.storage) > np.iinfo(np.int32).max:
            target = target.with_feature(hl.TargetFeature.LargeBuffers)
        self.pipelines = [
            (steps, Pipeline(steps, self.initial, start, tiles, target)) for steps in STEPS]
        self.threads = start["threads"]  # the protocol has set HL_NUM_THREADS
        self.versions = {"halide": library(), "target": str(target),
                         "numpy": np.__version__}
        self.reset()

    def cells(self):
        rows, columns = self.initial.shape
        return np.array(self.now, copy=False).T[:rows, :columns]

    def load(self, path):
        self.initial[...] = np.load(path)

    def reset(self):
        self.cells()[...] = self.initial

    def advance(self, steps):
        for steps_a_call, pipeline in self.pipelines:
            for _ in range(steps // steps_a_call):
                pipeline.run(self.now, self.after)
                self.now, self.after = self.after, self.now
            steps %= steps_a_call

    def field(self):
        return np.ascontiguousarray(self.cells())
