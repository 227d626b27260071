// SPDX-License-Identifier: Apache-2.0
// Matrix products out of shared memory, tile by tile in registers: all that a thread reads there
// comes in 16 bytes or is the same for many lanes.
#pragma once

#include "persistent_net.hpp"

#include <cstdint>

#include <cuda_runtime.h>

namespace diffbench::mlp::cuda {

/// 16 bytes.
template <typename T>
struct alignas(16) Chunk {
  static constexpr int size = 16 / sizeof(T);
  T v[size];
};

template <typename T>
__device__ Chunk<T> chunk_at(const T* numbers) {
  return *reinterpret_cast<const Chunk<T>*>(numbers);
}
template <typename T>
__device__ void store_chunk(T* numbers, const Chunk<T>& chunk) {
  *reinterpret_cast<Chunk<T>*>(numbers) = chunk;
}

/// The left operand of a product as [output][term], `pitch` numbers from row to row.
template <typename T, int tile_outputs>
class LeftByRows {
 public:
  __device__ LeftByRows(const T* left, std::int32_t pitch, std::int32_t outputs, std::int32_t first)
      : left_(left) {
#pragma unroll
    for (int i = 0; i < tile_outputs; ++i) {
      const std::int32_t row = first + i < outputs ? first + i : outputs - 1;
      at_[i] = row * pitch;
    }
  }
  __device__ void load(std::int32_t term, T (&into)[tile_outputs]) const {
#pragma unroll
    for (int i = 0; i < tile_outputs; ++i) {
      into[i] = left_[at_[i] + term];
    }
  }

 private:
  const T* left_;
  std::int32_t at_[tile_outputs];
};

/// The same as [term][output]. Reads up to seven numbers beyond the last output.
template <typename T, int tile_outputs>
class LeftByColumns {
 public:
  __device__ LeftByColumns(const T* left, std::int32_t pitch, std::int32_t, std::int32_t first)
      : left_(left + first), pitch_(pitch) {}
  __device__ void load(std::int32_t term, T (&into)[tile_outputs]) const {
#pragma unroll
    for (int i = 0; i < tile_outputs; i += Chunk<T>::size) {
      if constexpr (tile_outputs < Chunk<T>::size) {
        into[i] = left_[term * pitch_ + i];
      } else {
        const Chunk<T> chunk = chunk_at(left_ + term * pitch_ + i);
#pragma unroll
        for (int j = 0; j < Chunk<T>::size; ++j) {
          into[i + j] = chunk.v[j];
        }
      }
    }
  }

 private:
  const T* left_;
  std::int32_t pitch_;
};

/// A product's shape, and its right operand [term][row].
template <typename T>
struct TileProduct {
  std::int32_t outputs;
  std::int32_t terms;
  Divisor row_chunks; ///< of 16 bytes
  const T* left;
  std::int32_t left_pitch;
  const T* right;
  std::int32_t right_pitch;
};

/// Sums up over the lanes of a tile: of outputs [0, 2 * half) each lane keeps half, and gives the
/// others to the lane that keeps those. In the end lane i has output i % tile_outputs, in sum[0].
template <int half, typename T, int tile_outputs>
__device__ void share_outputs(T (&sum)[tile_outputs][Chunk<T>::size], int lane) {
  const bool upper = (lane & half) != 0;
#pragma unroll
  for (int i = 0; i < half; ++i) {
#pragma unroll
    for (int j = 0; j < Chunk<T>::size; ++j) {
      const T give = upper ? sum[i][j] : sum[i + half][j];
      const T keep = upper ? sum[i + half][j] : sum[i][j];
      sum[i][j] = keep + __shfl_xor_sync(0xffffffffu, give, half);
    }
  }
  if constexpr (half > 1) {
    share_outputs<half / 2>(sum, lane);
  }
}

template <int tile_lanes, typename T, int tile_outputs>
__device__ Chunk<T> sum_over_lanes(T (&sum)[tile_outputs][Chunk<T>::size], int lane) {
  // More lanes than outputs: these have the same ones.
#pragma unroll
  for (int distance = tile_lanes / 2; distance >= tile_outputs; distance /= 2) {
#pragma unroll
    for (int i = 0; i < tile_outputs; ++i) {
#pragma unroll
      for (int j = 0; j < Chunk<T>::size; ++j) {
        sum[i][j] += __shfl_xor_sync(0xffffffffu, sum[i][j], distance);
      }
    }
  }
  share_outputs<tile_outputs / 2>(sum, lane);
  Chunk<T> total;
#pragma unroll
  for (int j = 0; j < Chunk<T>::size; ++j) {
    total.v[j] = sum[0][j];
  }
  return total;
}

/// By tiles of `tile_outputs` x 16 bytes of rows in registers. The lanes of a tile have every
/// `tile_lanes`-th term of its sums each.
template <template <typename, int> typename Left, int tile_outputs, int tile_lanes, typename T,
          typename Give>
__device__ void tile_product(const TileProduct<T>& product, Give give) {
  constexpr int warp_tiles = 32 / tile_lanes;
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  const auto warps = static_cast<std::int32_t>(blockDim.x / 32);
  const int lane = thread % tile_lanes;
  const std::int32_t tiles =
      (product.outputs + tile_outputs - 1) / tile_outputs * product.row_chunks.number;
  // All lanes of a warp stay in the loop: they meet in the sums.
  for (std::int32_t first = thread / 32 * warp_tiles; first < tiles; first += warps * warp_tiles) {
    const std::int32_t tile = first + thread % 32 / tile_lanes;
    const std::int32_t used = tile < tiles ? tile : tiles - 1;
    const std::int32_t band = product.row_chunks.quotient(used);
    const std::int32_t output = band * tile_outputs;
    const std::int32_t row = (used - band * product.row_chunks.number) * Chunk<T>::size;
    const Left<T, tile_outputs> left(product.left, product.left_pitch, product.outputs, output);
    const T* const right = product.right + row;
    T sum[tile_outputs][Chunk<T>::size] = {};
#pragma unroll(Chunk <T>::size) // four terms of float32, two of float64: more would spill
    for (std::int32_t term = lane; term < product.terms; term += tile_lanes) {
      T a[tile_outputs];
      left.load(term, a);
      const Chunk<T> b = chunk_at(right + term * product.right_pitch);
#pragma unroll
      for (int i = 0; i < tile_outputs; ++i) {
#pragma unroll
        for (int j = 0; j < Chunk<T>::size; ++j) {
          sum[i][j] = fma(a[i], b.v[j], sum[i][j]);
        }
      }
    }
    const Chunk<T> total = sum_over_lanes<tile_lanes>(sum, lane);
    if (tile < tiles && lane < tile_outputs && output + lane < product.outputs) {
      give(output + lane, row, total);
    }
  }
}

/// A thread for each output and 16 bytes of rows.
template <template <typename, int> typename Left, typename T, typename Give>
__device__ void short_product(const TileProduct<T>& product, Give give) {
  const std::int32_t chunks = product.row_chunks.number;
  for (auto i = static_cast<std::int32_t>(threadIdx.x); i < product.outputs * chunks;
       i += static_cast<std::int32_t>(blockDim.x)) {
    const std::int32_t output = product.row_chunks.quotient(i);
    const std::int32_t row = (i - output * chunks) * Chunk<T>::size;
    const Left<T, 1> left(product.left, product.left_pitch, product.outputs, output);
    Chunk<T> sum{};
#pragma unroll 4
    for (std::int32_t term = 0; term < product.terms; ++term) {
      T a[1];
      left.load(term, a);
      const Chunk<T> b = chunk_at(product.right + term * product.right_pitch + row);
#pragma unroll
      for (int j = 0; j < Chunk<T>::size; ++j) {
        sum.v[j] = fma(a[0], b.v[j], sum.v[j]);
      }
    }
    give(output, row, sum);
  }
}

/// out[output][row] = sum over terms of left[output][term] * right[term][row], by all warps of the
/// block; give(output, first row, sums) is called once for each output and 16 bytes of rows.
template <template <typename, int> typename Left, typename T, typename Give>
__device__ void multiply(const TileProduct<T>& product, Give give) {
  if (product.terms <= 16) { // too few to be divided between lanes
    short_product<Left>(product, give);
  } else if (product.outputs <= 2) {
    tile_product<Left, 2, 32>(product, give);
  } else {
    tile_product<Left, 8, 8>(product, give);
  }
}

} // namespace diffbench::mlp::cuda
