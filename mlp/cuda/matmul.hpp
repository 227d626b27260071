// SPDX-License-Identifier: Apache-2.0
// A matrix product of cuBLASLt, described and planned once and run many times.
#pragma once

#include "cublaslt.hpp"
#include "diffbench/gpu/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace diffbench::mlp::cuda {

/// What the product does besides, as the library calls it.
enum class Epilogue : int {
  none = CUBLASLT_EPILOGUE_DEFAULT,
  bias = CUBLASLT_EPILOGUE_BIAS,
  relu_bias_mask = CUBLASLT_EPILOGUE_RELU_AUX_BIAS, ///< and notes where ReLU let pass
  relu_gradient = CUBLASLT_EPILOGUE_DRELU_BGRAD,    ///< by that mask; sums of D's rows to `bias`
  sums_of_right = CUBLASLT_EPILOGUE_BGRADB,         ///< sums of op(right)'s columns to `bias`
};

/// out = alpha op(left) op(right) + beta out. All matrices are packed and, as the library sees
/// them, column-major; op is the matrix or its transpose.
struct MatmulShape {
  std::int64_t rows;    ///< of out
  std::int64_t columns; ///< of out
  std::int64_t depth;   ///< summed over
  bool left_transposed = false;
  bool right_transposed = false;
  Epilogue epilogue = Epilogue::none;
  void* bias = nullptr; ///< on the device, as are the next ones
  void* mask = nullptr; ///< mask_bytes()
};

/// From one column of a mask to the next; the library wants a multiple of 128 bits.
[[nodiscard]] constexpr std::int64_t mask_pitch(std::int64_t rows) {
  return (rows + 127) / 128 * 128;
}
[[nodiscard]] constexpr std::int64_t mask_bytes(std::int64_t rows, std::int64_t columns) {
  return mask_pitch(rows) / 8 * columns;
}

namespace detail {
void destroy_operation(cublasLtMatmulDesc_t operation) noexcept;
void destroy_layout(cublasLtMatrixLayout_t layout) noexcept;
} // namespace detail

template <typename T>
class Matmul {
 public:
  /// The library's first choice with at most `workspace_bytes`; empty when it has no algorithm for
  /// this, as may be for tiny shapes, or refuses the epilogue. Throws CublasLtError.
  [[nodiscard]] static std::optional<Matmul> find(const CublasLtHandle& handle,
                                                  const MatmulShape& shape,
                                                  std::size_t workspace_bytes);

  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// In stream order; does not block. `workspace` is this product's alone while it runs.
  void run(const CublasLtHandle& handle, const gpu::Stream& stream, T alpha, const T* left,
           const T* right, T beta, T* out, void* workspace) const;

 private:
  using Operation = gpu::Owner<cublasLtMatmulDesc_t, detail::destroy_operation>;
  using Layout = gpu::Owner<cublasLtMatrixLayout_t, detail::destroy_layout>;

  static std::optional<Matmul> plan(const CublasLtHandle& handle, const MatmulShape& shape,
                                    std::size_t workspace_bytes);
  static Operation describe(const MatmulShape& shape);
  static Layout layout(std::int64_t rows, std::int64_t columns);

  Operation operation_;
  Layout left_, right_, out_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::size_t workspace_bytes_ = 0;
};

} // namespace diffbench::mlp::cuda
