// The innermost loop of the simd backend: one time step of a few rows that lie in the cache.
//
// It is compiled once for each instruction set, in files of their own (row_kernel_*.cpp).
// Everything here that those files share is a template over a lane type with internal linkage, and
// only <cstdint> is included: an inline function compiled for AVX-512 that the linker then picks
// for the whole program would be an illegal instruction on another machine.
#pragma once

#include <cstdint>

namespace diffbench::simd {

/// Rows that one call advances together. Each input row is loaded once and serves as the row above,
/// the centre and the row below while it is in registers. 4 to 6 measure alike; 4 leaves the most
/// room in the L1 cache and fits 16 registers with 256-bit vectors.
inline constexpr int block_rows = 4;

/// How the cells beyond a row's ends are made.
enum class Ends { wrap, constant, edge };

/// The kernels for one cell type. A row pointer points at cell 0 of a row of n cells, aligned to a
/// vector, with at least one vector of padding in front and two behind; the cells at -1 and n are
/// its ghost cells.
template <typename T>
struct RowKernels {
  std::int64_t lanes; ///< cells in a vector
  /// out[r] = step of in[r+1] with in[r] above and in[r+2] below, r < block_rows; `vectors` vectors
  /// from cell 0. in[0] and in[block_rows+1] need no ghost cells.
  void (*advance)(const T* const* in, T* const* out, std::int64_t vectors, T factor);
  /// Fills the left and/or right ghost cell of a row of n cells.
  void (*fill_ghosts)(T* row, std::int64_t n, Ends ends, T constant, bool left, bool right);
};

struct KernelSet {
  RowKernels<float> float32;
  RowKernels<double> float64;
};

const KernelSet& baseline_kernels();
const KernelSet& avx2_kernels();
const KernelSet& avx512_kernels();

namespace {

// `Lanes` gives the vector type and: load, load_unaligned, store, store_unaligned, broadcast, add,
// mul, sub4(s, u) = s - 4u (4u is exact, so fused or not gives the same bits), and the two shifts
// from_left(l, c): the last lane of l, then c without its last; from_right(c, r): c without its
// first lane, then the first of r.
// The shifts are the point: an unaligned 512-bit load crosses a cache line every time.
template <typename Lanes>
struct Kernels {
  using T = typename Lanes::Cell;
  using V = typename Lanes::Vector;

  static void advance(const T* const* in, T* const* out, std::int64_t vectors, T factor) {
    constexpr int rows = block_rows;
    constexpr std::int64_t lanes = Lanes::count;
    const V f = Lanes::broadcast(factor);
    const T* p[rows + 2];
    T* q[rows];
    V left[rows];
    V centre[rows];
    for (int r = 0; r < rows + 2; ++r) {
      p[r] = in[r];
    }
    for (int r = 0; r < rows; ++r) {
      q[r] = out[r];
      left[r] = Lanes::load(p[r + 1] - lanes);
      centre[r] = Lanes::load(p[r + 1]);
    }
#pragma GCC unroll 2
    for (std::int64_t i = 0; i < vectors * lanes; i += lanes) {
      V right[rows];
      for (int r = 0; r < rows; ++r) {
        right[r] = Lanes::load(p[r + 1] + i + lanes);
      }
      const V top = Lanes::load(p[0] + i);
      const V bottom = Lanes::load(p[rows + 1] + i);
      for (int r = 0; r < rows; ++r) {
        const V above = r == 0 ? top : centre[r - 1];
        const V below = r == rows - 1 ? bottom : centre[r + 1];
        const V west = Lanes::from_left(left[r], centre[r]);
        const V east = Lanes::from_right(centre[r], right[r]);
        const V sum = Lanes::add(Lanes::add(Lanes::add(above, below), west), east);
        const V lap = Lanes::sub4(sum, centre[r]);
        Lanes::store(q[r] + i, Lanes::add(centre[r], Lanes::mul(f, lap)));
      }
      for (int r = 0; r < rows; ++r) {
        left[r] = centre[r];
        centre[r] = right[r];
      }
    }
  }

  // Whole vectors are written, because the next step loads whole vectors and a load cannot be
  // forwarded from a narrower store.
  static void fill_ghosts(T* row, std::int64_t n, Ends ends, T constant, bool left, bool right) {
    constexpr std::int64_t lanes = Lanes::count;
    V before = Lanes::broadcast(constant);
    V behind = before;
    if (ends == Ends::wrap) {
      before = Lanes::load_unaligned(row + n - lanes);
      behind = Lanes::load(row);
    } else if (ends == Ends::edge) {
      before = Lanes::broadcast(row[0]);
      behind = Lanes::broadcast(row[n - 1]);
    }
    if (left) {
      Lanes::store(row - lanes, before);
    }
    if (right) {
      Lanes::store_unaligned(row + n, behind);
    }
  }

  static constexpr RowKernels<T> table = {Lanes::count, advance, fill_ghosts};
};

} // namespace

} // namespace diffbench::simd
