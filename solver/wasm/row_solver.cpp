// SPDX-License-Identifier: Apache-2.0
// The row kernel of the simd backend as a solver for WebAssembly: float32, one thread, no library.
// It is what the page's live card runs (viz/src/live/); bench/report/Page.cmake compiles it.
//
// The field lies in strided rows (row_kernel.hpp) twice, and a step goes from one copy to the
// other. The backend's bands, which carry several steps in the cache, need a library and threads
// and are not here. There is no allocator either: place() lays everything out behind __heap_base,
// and the page grows the memory to what bytes_for() says before.
#include "simd/row_kernel.hpp"

namespace {

using diffbench::simd::Ends;
using diffbench::simd::RowKernels;
using diffbench::simd::RowShape;
using Index = std::int64_t;

/// The order is that of the page: boundaries in viz/src/live/setting.ts.
constexpr Ends ends_of[] = {Ends::wrap, Ends::constant, Ends::edge};

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the linker's name
extern "C" char __heap_base;

RowShape<float> shape;
Index nx, ny;
Index stride;    // from one row pointer to the next
float* natural;  // the cells row by row, where the page puts and finds them
float* ghost;    // a row of cells outside the grid
float* field[2]; // strided rows: the field, and where the next step goes

const RowKernels<float>& kernels() { return diffbench::simd::baseline_kernels().float32; }

/// The lanes of the row that begins at `row`. The last one may end up to lanes - 1 cells behind it.
void lanes_of(float* row, float** lanes) {
  for (Index lane = 0; lane < kernels().lanes; ++lane) {
    lanes[lane] = row + lane * shape.vectors;
  }
}

float* strided(int copy, Index y) { return field[copy] + y * stride; }

/// Row `y`, which may be one beyond an edge.
const float* above_or_below(Index y) {
  if (y >= 0 && y < ny) {
    return strided(0, y);
  }
  switch (shape.left) {
    case Ends::wrap: return strided(0, y < 0 ? ny - 1 : 0);
    case Ends::edge: return strided(0, y < 0 ? 0 : ny - 1);
    default: return ghost;
  }
}

Index stride_of(Index cells) {
  return ((cells + kernels().lanes - 1) / kernels().lanes + 2) * kernels().lanes;
}

/// Rows of the next step from `first` to before `last`, and up to a block more: they are the same
/// whenever they are computed.
void step_rows(Index first, Index last, float factor) {
  constexpr int rows = diffbench::simd::block_rows;
  for (Index y = first; y < last; y += rows) {
    y = y + rows > ny ? ny - rows : y; // the last ones again
    const float* in[rows + 2];
    float* out[rows];
    for (int r = 0; r < rows + 2; ++r) {
      in[r] = above_or_below(y + r - 1);
    }
    for (int r = 0; r < rows; ++r) {
      out[r] = strided(1, y + r);
    }
    kernels().advance(in, out, shape, factor);
  }
}

} // namespace

// The page's side of these is viz/src/live/wasm.ts.
extern "C" {

/// Where memory must end for a grid of width by height; a double, since it may be more than there
/// are addresses.
double bytes_for(double width, double height) {
  const double row = static_cast<double>(stride_of(static_cast<Index>(width)));
  const double floats = width * height + 4 * kernels().lanes + row * (2 * height + 1);
  return static_cast<double>(reinterpret_cast<Index>(&__heap_base)) + 64 + 4 * floats;
}

/// The grid's place in memory, row by row: width by height cells, at least 4 in each direction.
float* place(int width, int height, int boundary, float outside) {
  const Index lanes = kernels().lanes;
  nx = width;
  ny = height;
  stride = stride_of(nx);
  shape = diffbench::simd::row_shape(nx, lanes, ends_of[boundary], ends_of[boundary], outside);
  natural = reinterpret_cast<float*>((reinterpret_cast<Index>(&__heap_base) + 63) / 64 * 64);
  // Behind the last row: what its last lane touches, up to the next vector.
  float* const rows = natural + (nx * ny + 2 * lanes - 1) / lanes * lanes;
  ghost = rows + lanes;
  field[0] = ghost + stride;
  field[1] = field[0] + ny * stride;
  for (Index i = -lanes; i < stride - lanes; ++i) {
    ghost[i] = outside;
  }
  return natural;
}

/// Rows from `first` to before `last`, as all that follows: the page reacts between its calls.
void upload(int first, int last) {
  for (Index y = first; y < last; ++y) {
    float* from[diffbench::simd::max_lanes];
    lanes_of(natural + y * nx, from);
    kernels().gather(from, strided(0, y), shape.vectors);
    kernels().close(strided(0, y), shape);
  }
}

/// Row r is row r % ny of step r / ny. Steps begin at 0 with each series of calls, in which every
/// call goes on from where the last one ended; the last one ends a step.
void advance(int first, int last, float factor) {
  for (Index row = first; row < last;) {
    const Index y = row % ny;
    const Index end = last - row < ny - y ? y + last - row : ny;
    step_rows(y, end, factor);
    row += end - y;
    if (end == ny) {
      float* const before = field[0];
      field[0] = field[1];
      field[1] = before;
    }
  }
}

/// From the first row on: what a row's last lane writes behind its end is overwritten by the next.
void download(int first, int last) {
  for (Index y = first; y < last; ++y) {
    float* to[diffbench::simd::max_lanes];
    lanes_of(natural + y * nx, to);
    kernels().scatter(strided(0, y), to, shape.vectors);
  }
}
}
