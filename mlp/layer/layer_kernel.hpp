// SPDX-License-Identifier: Apache-2.0
// The innermost loops of the cpu engine: matrix products with what comes after them fused in.
//
// A layer is three products of one shape, out[r][c] = sum over k of left[r][k] * right[k][c], where
// `left` is read one number at a time and `right` and `out` a vector at a time (the outer-product
// form of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008, without
// packing: the operands of a batch of some hundred rows lie in the caches as they are).
//
// Compiled once for each instruction set, in files of their own (layer_kernel_*.cpp), like the row
// kernels of the solver and for the same reason: everything shared is a template with internal
// linkage, and only plain data is included.
#pragma once

#include "step_factors.hpp"

#include <cstdint>

namespace diffbench::mlp {

/// One product. Strides are in elements; `right` and `out` rows are aligned to a vector.
template <typename T>
struct Product {
  const T* left;
  std::int64_t left_row, left_depth; ///< strides from row to row, from k to k
  const T* right;
  std::int64_t right_depth;
  T* out;
  std::int64_t out_row;
  std::int64_t rows, depth, vectors;
};

/// Where the optimizer's moments lie, with the strides of `out`; null where it has none.
template <typename T>
struct Moments {
  T* first;
  T* second;
};

/// What becomes of the sums of a layer. ReLU makes negative ones 0; a NaN stays one.
enum class Activation { none, relu };

template <typename T>
struct LayerKernels {
  std::int64_t lanes; ///< numbers in a vector
  /// Forward: out = the product, activated.
  void (*forward)(const Product<T>& product, Activation activation);
  /// Gradient of a layer's inputs: out = the product where `gate`, of the same layout, is > 0, else
  /// 0.
  void (*backward)(const Product<T>& product, const T* gate);
  /// The product is the gradient of `out`, the weights: one step of the optimizer.
  void (*update)(const Product<T>& product, const StepFactors<T>& factors,
                 const Moments<T>& moments);
  /// out[r] = sum over c of rows[r * stride + c] * x[c], `vectors` vectors of c: forward for one
  /// row.
  void (*forward_one)(const T* weights, std::int64_t stride, const T* x, std::int64_t vectors,
                      T* out, std::int64_t rows, Activation activation);
  /// to[c][r] = from[r][c] for `lanes` rows and columns; strides from row to row.
  void (*transpose)(const T* from, std::int64_t from_row, T* to, std::int64_t to_row);
};

struct KernelSet {
  LayerKernels<float> float32;
  LayerKernels<double> float64;
};

const KernelSet& baseline_kernels();
const KernelSet& avx2_kernels();
const KernelSet& avx512_kernels();

namespace {

// `Lanes` gives the vector type and: count, registers (of the instruction set), load, store,
// broadcast, add, mul, fma(a, b, c) = a*b + c, div, sqrt, relu (a NaN stays one),
// zero_unless_positive(gate, v), and interleave_low/high(a, b): the low/high halves' elements,
// alternately from a and b.
template <typename Lanes>
struct Kernels {
  using T = typename Lanes::Cell;
  using V = typename Lanes::Vector;
  static constexpr std::int64_t lanes = Lanes::count;

  // Rows and vectors that are accumulated in registers: with one vector of each row of `right` and
  // a broadcast they fill them.
  static constexpr int block_rows = 6;
  static constexpr int block_vectors = Lanes::registers >= 32 ? 4 : 2;

  // Where `left` is read across its rows and lies beyond the caches, each number comes with a line
  // of others that are wanted later: so many k are summed for all rows before the next, that these
  // lines are still in L1, and each line is asked for ahead.
  static constexpr std::int64_t part_depth = 128;
  static constexpr std::int64_t far_bytes = 6 << 20;
  static constexpr std::int64_t line = 64 / sizeof(T);

  // Of one product for k in [begin, end); sums that are not whole wait in `out`.
  struct Part {
    std::int64_t begin, end;
  };

  template <bool far, int rows, int vectors, typename Finish>
  static void block(const Product<T>& p, Part part, std::int64_t row, std::int64_t column,
                    Finish finish) {
    const auto place = [&](int r, int v) { return (row + r) * p.out_row + column + v * lanes; };
    V sum[rows][vectors];
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < vectors; ++v) {
        sum[r][v] =
            far && part.begin > 0 ? Lanes::load(p.out + place(r, v)) : Lanes::broadcast(T{0});
      }
    }
    const T* left = p.left + row * p.left_row + part.begin * p.left_depth;
    const T* right = p.right + column + part.begin * p.right_depth;
    for (std::int64_t left_over = part.end - part.begin; left_over > 0; --left_over) {
      V in[vectors];
      for (int v = 0; v < vectors; ++v) {
        in[v] = Lanes::load(right + v * lanes);
      }
      if constexpr (far) {
        __builtin_prefetch(left + line);
      }
      for (int r = 0; r < rows; ++r) {
        const V factor = Lanes::broadcast(left[r * p.left_row]);
        for (int v = 0; v < vectors; ++v) {
          sum[r][v] = Lanes::fma(factor, in[v], sum[r][v]);
        }
      }
      left += p.left_depth;
      right += p.right_depth;
    }
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < vectors; ++v) {
        if (far && part.end < p.depth) {
          Lanes::store(p.out + place(r, v), sum[r][v]);
        } else {
          finish(place(r, v), sum[r][v]);
        }
      }
    }
  }

  template <bool far, int vectors, typename Finish>
  static void column_of_blocks(const Product<T>& p, Part part, std::int64_t column, Finish finish) {
    std::int64_t row = 0;
    for (; row + block_rows <= p.rows; row += block_rows) {
      block<far, block_rows, vectors>(p, part, row, column, finish);
    }
    for (; row + 2 <= p.rows; row += 2) {
      block<far, 2, vectors>(p, part, row, column, finish);
    }
    if (row < p.rows) {
      block<far, 1, vectors>(p, part, row, column, finish);
    }
  }

  template <bool far, typename Finish>
  static void multiply_part(const Product<T>& p, Part part, Finish finish) {
    std::int64_t vector = 0;
    for (; vector + block_vectors <= p.vectors; vector += block_vectors) {
      column_of_blocks<far, block_vectors>(p, part, vector * lanes, finish);
    }
    if constexpr (block_vectors == 4) {
      if (p.vectors - vector == 3) {
        column_of_blocks<far, 3>(p, part, vector * lanes, finish);
        return;
      }
      if (p.vectors - vector == 2) {
        column_of_blocks<far, 2>(p, part, vector * lanes, finish);
        return;
      }
    }
    if (vector < p.vectors) {
      column_of_blocks<far, 1>(p, part, vector * lanes, finish);
    }
  }

  // finish(offset in out, vector of the product)
  template <typename Finish>
  static void multiply(const Product<T>& p, Finish finish) {
    multiply_part<false>(p, {.begin = 0, .end = p.depth}, finish);
  }

  static void forward(const Product<T>& p, Activation activation) {
    if (activation == Activation::relu) {
      multiply(p,
               [out = p.out](std::int64_t at, V sum) { Lanes::store(out + at, Lanes::relu(sum)); });
    } else {
      multiply(p, [out = p.out](std::int64_t at, V sum) { Lanes::store(out + at, sum); });
    }
  }

  static auto gated(const Product<T>& p, const T* gate) {
    return [out = p.out, gate](std::int64_t at, V sum) {
      Lanes::store(out + at, Lanes::zero_unless_positive(Lanes::load(gate + at), sum));
    };
  }

  [[gnu::noinline]] static void backward_far(const Product<T>& p, const T* gate) {
    for (std::int64_t k = 0; k < p.depth; k += part_depth) {
      const std::int64_t end = k + part_depth;
      multiply_part<true>(p, {.begin = k, .end = end < p.depth ? end : p.depth}, gated(p, gate));
    }
  }

  static void backward(const Product<T>& p, const T* gate) {
    if (p.rows * p.depth * static_cast<std::int64_t>(sizeof(T)) < far_bytes) {
      multiply(p, gated(p, gate));
    } else {
      backward_far(p, gate);
    }
  }

  static void update(const Product<T>& p, const StepFactors<T>& f, const Moments<T>& moments) {
    const V minus_rate = Lanes::broadcast(-f.rate);
    const V decay = Lanes::broadcast(f.weight_decay);
    if (moments.first == nullptr) {
      multiply(p, [=, out = p.out](std::int64_t at, V gradient) {
        const V weight = Lanes::load(out + at);
        Lanes::store(out + at, Lanes::fma(minus_rate, Lanes::fma(decay, weight, gradient), weight));
      });
    } else if (!f.adam) {
      const V momentum = Lanes::broadcast(f.momentum);
      multiply(p, [=, out = p.out, first = moments.first](std::int64_t at, V gradient) {
        const V weight = Lanes::load(out + at);
        const V moment =
            Lanes::fma(momentum, Lanes::load(first + at), Lanes::fma(decay, weight, gradient));
        Lanes::store(first + at, moment);
        Lanes::store(out + at, Lanes::fma(minus_rate, moment, weight));
      });
    } else {
      update_adam(p, f, moments);
    }
  }

  static void update_adam(const Product<T>& p, const StepFactors<T>& f, const Moments<T>& m) {
    const V minus_rate = Lanes::broadcast(-f.rate);
    const V decay = Lanes::broadcast(f.weight_decay);
    const V keep1 = Lanes::broadcast(f.keep1);
    const V take1 = Lanes::broadcast(f.take1);
    const V keep2 = Lanes::broadcast(f.keep2);
    const V take2 = Lanes::broadcast(f.take2);
    const V correction = Lanes::broadcast(f.root_correction);
    const V epsilon = Lanes::broadcast(f.epsilon);
    multiply(p, [=, out = p.out, m = m](std::int64_t at, V product) {
      const V weight = Lanes::load(out + at);
      const V gradient = Lanes::fma(decay, weight, product);
      const V first = Lanes::fma(keep1, Lanes::load(m.first + at), Lanes::mul(take1, gradient));
      const V second = Lanes::fma(keep2, Lanes::load(m.second + at),
                                  Lanes::mul(take2, Lanes::mul(gradient, gradient)));
      Lanes::store(m.first + at, first);
      Lanes::store(m.second + at, second);
      const V root = Lanes::add(Lanes::div(Lanes::sqrt(second), correction), epsilon);
      Lanes::store(out + at, Lanes::fma(minus_rate, Lanes::div(first, root), weight));
    });
  }

  static T sum_of(V v) {
    alignas(64) T elements[lanes];
    Lanes::store(elements, v);
    T sum = 0;
    for (const T element : elements) {
      sum += element;
    }
    return sum;
  }

  static void forward_one(const T* weights, std::int64_t stride, const T* x, std::int64_t vectors,
                          T* out, std::int64_t rows, Activation activation) {
    constexpr int together = 4; // as many sums as hide the latency of one
    for (std::int64_t row = 0; row < rows; row += together) {
      const T* w[together];
      V sum[together];
      for (int r = 0; r < together; ++r) {
        w[r] = weights + (row + r < rows ? row + r : rows - 1) * stride;
        sum[r] = Lanes::broadcast(T{0});
      }
      for (std::int64_t c = 0; c < vectors * lanes; c += lanes) {
        const V in = Lanes::load(x + c);
        for (int r = 0; r < together; ++r) {
          sum[r] = Lanes::fma(Lanes::load(w[r] + c), in, sum[r]);
        }
      }
      for (int r = 0; r < together && row + r < rows; ++r) {
        const T total = sum_of(sum[r]);
        out[row + r] = activation == Activation::relu && total < 0 ? T{0} : total;
      }
    }
  }

  // Rounds of perfect shuffles: after log2(lanes) of them rows are columns.
  static void transpose(const T* from, std::int64_t from_row, T* to, std::int64_t to_row) {
    V rows[lanes];
    for (int r = 0; r < lanes; ++r) {
      rows[r] = Lanes::load(from + r * from_row);
    }
    for (int round = 1; round < lanes; round *= 2) {
      V shuffled[lanes];
      for (int r = 0; r < lanes / 2; ++r) {
        shuffled[2 * r] = Lanes::interleave_low(rows[r], rows[r + lanes / 2]);
        shuffled[2 * r + 1] = Lanes::interleave_high(rows[r], rows[r + lanes / 2]);
      }
      for (int r = 0; r < lanes; ++r) {
        rows[r] = shuffled[r];
      }
    }
    for (int r = 0; r < lanes; ++r) {
      Lanes::store(to + r * to_row, rows[r]);
    }
  }

  static constexpr LayerKernels<T> table = {lanes,  forward,     backward,
                                            update, forward_one, transpose};
};

} // namespace

} // namespace diffbench::mlp
