// SPDX-License-Identifier: Apache-2.0
// The innermost loop of the simd backend: one time step of a few rows that lie in the cache.
//
// A row of n cells lies there as m = ceil(n / L) vectors of L lanes, lane j of vector i holding
// cell j m + i: the neighbours of a vector's cells in x are the vectors before and behind it, and
// no lane is ever shifted but at the row's ends. (The dimension-lifting transposition of Henretty
// et al., "Data layout transformation for stencil computations on short-vector SIMD architectures",
// CC 2011; here only for rows in flight.)
//
// It is compiled once for each instruction set, in files of their own (row_kernel_*.cpp).
// Everything here that those files share is a template over a lane type with internal linkage, and
// only <cstdint> is included: an inline function compiled for AVX-512 that the linker then picks
// for the whole program would be an illegal instruction on another machine.
#pragma once

#include <cstdint>

namespace diffbench::simd {

/// Rows that one call advances together. Each input row is loaded once and serves as the row above,
/// the centre and the row below while it is in registers. 3 to 6 measure alike; 4 fits 16 registers
/// with 256-bit vectors.
inline constexpr int block_rows = 4;

/// The most lanes that a vector has.
inline constexpr std::int64_t max_lanes = 16;

/// Rows may hold their numbers times this, a power of two (underflow.hpp). Where the product of
/// factor and Laplacian is then below scaled_normal, the scaled smallest normal number, it has to
/// be rounded to a multiple of the scaled smallest denormal number. The scale is such that the two
/// highest bits of the exponent of these products are 0, and of no others.
template <typename T>
inline constexpr T field_scale = static_cast<T>(sizeof(T) == sizeof(float) ? 0x1p63 : 0x1p511);
template <typename T>
inline constexpr T scaled_normal = static_cast<T>(sizeof(T) == sizeof(float) ? 0x1p-63 : 0x1p-511);

/// How the cell beyond an end of a row is made. none: nobody reads it.
enum class Ends { none, wrap, constant, edge };

/// The shape of strided rows (row_shape makes one). A row pointer points at vector 0, aligned to a
/// vector, with room for one vector in front and one behind.
template <typename T>
struct RowShape {
  std::int64_t cells = 0;
  std::int64_t vectors = 0;
  Ends left = Ends::none;
  Ends right = Ends::none; ///< wrap: both
  T constant{};
  // Offsets from the row pointer.
  std::int64_t last = 0;        ///< of the last cell
  std::int64_t next_vector = 0; ///< of the vector that has a place for cell n, when n < lanes m
  std::int64_t next_lane = 0;   ///< that place; `lanes` when n = lanes m
};

/// The kernels for one cell type.
template <typename T>
struct RowKernels {
  std::int64_t lanes; ///< cells in a vector
  /// out[r] = step of in[r+1] with in[r] above and in[r+2] below, r < block_rows, and its ends
  /// closed. in[0] and in[block_rows+1] need no closed ends. out[2] may be in[0], and out[3] in[1],
  /// where the rows are computed once.
  using Advance = void (*)(const T* const* in, T* const* out, const RowShape<T>& shape, T factor);
  Advance advance;
  /// The same of scaled rows. Right where FlushToZero::underflowed says no.
  Advance advance_hasty;
  /// The same of scaled rows, right in any case.
  Advance advance_careful;
  /// Makes what a row holds beyond its ends: the vectors in front of it and behind it.
  void (*close)(T* row, const RowShape<T>& shape);
  /// row = the cells of each lane, which begin at from[lane]: from natural order to strides.
  void (*gather)(const T* const* from, T* row, std::int64_t vectors);
  /// The way back.
  void (*scatter)(const T* row, T* const* to, std::int64_t vectors);
};

/// How a kernel adds the rows above and below: by an addition, or as above 1 + below, fused, which
/// has the same bits and runs where products do. On cores with pipes of their own for additions
/// (AMD's), that balances four additions and two products a vector. Which is quicker is measured.
enum class Pipes { plain, fused };

struct KernelSet {
  RowKernels<float> float32;
  RowKernels<double> float64;
};

const KernelSet& baseline_kernels(); ///< plain
const KernelSet& avx2_kernels(Pipes pipes);
const KernelSet& avx512_kernels(Pipes pipes);

namespace {

/// Of rows of `cells` cells in vectors of `lanes`.
template <typename T>
RowShape<T> row_shape(std::int64_t cells, std::int64_t lanes, Ends left, Ends right, T constant) {
  const std::int64_t vectors = (cells + lanes - 1) / lanes;
  return {.cells = cells,
          .vectors = vectors,
          .left = left,
          .right = right,
          .constant = constant,
          .last = (cells - 1) % vectors * lanes + (cells - 1) / vectors,
          .next_vector = cells % vectors * lanes,
          .next_lane = cells / vectors};
}

/// How a kernel makes the product of factor and Laplacian: see RowKernels.
enum class Product { natural, hasty, careful };

// `Lanes` gives the vector type and: load, store, broadcast, opaque (the same, of a value
// that the compiler does not know, or it simplifies what is made with it), add, sub4(s, u) = s - 4u
// (4u is exact, so fused or not gives the same bits); add_fused(a, 1, b) = 1a + b and
// product(a, b, -0) = ab - 0, of opaque numbers, have the bits of sum and product. The latter:
// where a field spreads into zeros its front is denormal, and on Zen 5 a multiplication with such a
// result takes eight cycles more, a fused one none; add_scaled(a, b, scale, c) = ab scale + c, the
// product rounded and `scale` a power of two; mul_carefully(a, b) = ab, rounded to a multiple of
// the scaled smallest denormal number where it is below scaled_normal. That is done by adding the
// latter, which leaves such multiples as the last bit, in one fused operation, and subtracting it;
// a product that becomes 0 keeps its sign; rotate_up, lane j from j-1, rotate_down, lane j from
// j+1, both around; insert(v, lane, value). For gather and scatter, with c = cells in 128 bits:
// join(from, i): the 128-bit pieces from[0] + i, from[c] + i, from[2c] + i, ... as a vector;
// split(v, to, i): the way back; transpose(v): c vectors, transposed c x c in each 128 bits.
template <typename Lanes>
struct Kernels {
  using T = typename Lanes::Cell;
  using V = typename Lanes::Vector;
  static constexpr std::int64_t lanes = Lanes::count;
  static constexpr std::int64_t piece = 16 / static_cast<std::int64_t>(sizeof(T));

  template <Product product, Pipes pipes>
  static void advance(const T* const* in, T* const* out, const RowShape<T>& shape, T factor) {
    constexpr int rows = block_rows;
    const V f = Lanes::broadcast(product == Product::hasty ? factor / field_scale<T> : factor);
    const V zero = Lanes::opaque(T{-0.0});
    const V one = Lanes::opaque(T{1});
    const V scale = Lanes::broadcast(field_scale<T>);
    const T* p[rows + 2];
    T* q[rows];
    V west[rows];
    V centre[rows];
    for (int r = 0; r < rows + 2; ++r) {
      p[r] = in[r];
    }
    for (int r = 0; r < rows; ++r) {
      q[r] = out[r];
      west[r] = Lanes::load(p[r + 1] - lanes);
      centre[r] = Lanes::load(p[r + 1]);
    }
    const std::int64_t end = shape.vectors * lanes;
    for (std::int64_t i = 0; i < end; i += lanes) {
      V east[rows];
      for (int r = 0; r < rows; ++r) {
        east[r] = Lanes::load(p[r + 1] + i + lanes);
      }
      const V top = Lanes::load(p[0] + i);
      const V bottom = Lanes::load(p[rows + 1] + i);
      for (int r = 0; r < rows; ++r) {
        const V above = r == 0 ? top : centre[r - 1];
        const V below = r == rows - 1 ? bottom : centre[r + 1];
        const V column =
            pipes == Pipes::fused ? Lanes::add_fused(above, one, below) : Lanes::add(above, below);
        const V sum = Lanes::add(Lanes::add(column, west[r]), east[r]);
        const V lap = Lanes::sub4(sum, centre[r]);
        if constexpr (product == Product::natural) {
          Lanes::store(q[r] + i, Lanes::add(centre[r], Lanes::product(f, lap, zero)));
        } else if constexpr (product == Product::hasty) {
          Lanes::store(q[r] + i, Lanes::add_scaled(f, lap, scale, centre[r]));
        } else {
          Lanes::store(q[r] + i, Lanes::add(centre[r], Lanes::mul_carefully(f, lap)));
        }
      }
      for (int r = 0; r < rows; ++r) {
        west[r] = centre[r];
        centre[r] = east[r];
      }
    }
    for (T* row : q) {
      close(row, shape);
    }
  }

  // Whole vectors are written, because the next step loads whole vectors and a load cannot be
  // forwarded from a narrower store.
  static void close(T* row, const RowShape<T>& shape) {
    const bool full = shape.next_lane == lanes; // so that wrapped ends come by rotation
    const auto beyond = [&](Ends ends, std::int64_t near, std::int64_t far) {
      return ends == Ends::constant ? shape.constant : row[ends == Ends::wrap ? far : near];
    };
    if (!full && shape.right != Ends::none) {
      T* vector = row + shape.next_vector;
      const T ghost = beyond(shape.right, shape.last, 0);
      Lanes::store(vector, Lanes::insert(Lanes::load(vector), shape.next_lane, ghost));
    }
    V before = Lanes::rotate_up(Lanes::load(row + (shape.vectors - 1) * lanes));
    V behind = Lanes::rotate_down(Lanes::load(row));
    if (shape.left != Ends::none && !(full && shape.left == Ends::wrap)) {
      before = Lanes::insert(before, 0, beyond(shape.left, 0, shape.last));
    }
    if (full && shape.right != Ends::none && shape.right != Ends::wrap) {
      behind = Lanes::insert(behind, lanes - 1, beyond(shape.right, shape.last, 0));
    }
    Lanes::store(row - lanes, before);
    Lanes::store(row + shape.vectors * lanes, behind);
  }

  static void gather(const T* const* from, T* row, std::int64_t vectors) {
    if (vectors < piece) {
      for (std::int64_t i = 0; i < vectors; ++i) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          row[i * lanes + lane] = from[lane][i];
        }
      }
      return;
    }
    for (std::int64_t i = 0; i < vectors; i += piece) {
      i = i + piece > vectors ? vectors - piece : i; // the last ones again
      V v[piece];
      for (std::int64_t k = 0; k < piece; ++k) {
        v[k] = Lanes::join(from + k, i);
      }
      Lanes::transpose(v);
      for (std::int64_t k = 0; k < piece; ++k) {
        Lanes::store(row + (i + k) * lanes, v[k]);
      }
    }
  }

  static void scatter(const T* row, T* const* to, std::int64_t vectors) {
    if (vectors < piece) {
      for (std::int64_t i = 0; i < vectors; ++i) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          to[lane][i] = row[i * lanes + lane];
        }
      }
      return;
    }
    for (std::int64_t i = 0; i < vectors; i += piece) {
      i = i + piece > vectors ? vectors - piece : i;
      V v[piece];
      for (std::int64_t k = 0; k < piece; ++k) {
        v[k] = Lanes::load(row + (i + k) * lanes);
      }
      Lanes::transpose(v);
      for (std::int64_t k = 0; k < piece; ++k) {
        Lanes::split(v[k], to + k, i);
      }
    }
  }

  // Those of scaled rows have three of each already, or more products.
  template <Pipes pipes>
  static constexpr RowKernels<T> table = {lanes,
                                          advance<Product::natural, pipes>,
                                          advance<Product::hasty, Pipes::plain>,
                                          advance<Product::careful, Pipes::plain>,
                                          close,
                                          gather,
                                          scatter};
};

} // namespace

} // namespace diffbench::simd
