// SPDX-License-Identifier: Apache-2.0
#include "matmul.hpp"

#include <type_traits>

namespace diffbench::mlp::cuda {

namespace {

// float32 stays float32: without CUBLAS_COMPUTE_32F_FAST_TF32 no product is rounded to ten bits.
template <typename T>
constexpr bool is_float32 = std::is_same_v<T, float>;
template <typename T>
constexpr cudaDataType_t data_type = is_float32<T> ? CUDA_R_32F : CUDA_R_64F;
template <typename T>
constexpr cublasComputeType_t compute_type =
    is_float32<T> ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_64F;

template <typename Value>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, Value value) {
  DIFFBENCH_CUBLASLT_CHECK(
      cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value));
}

void destroy_preference(cublasLtMatmulPreference_t preference) noexcept {
  DIFFBENCH_CUBLASLT_LOG(cublasLtMatmulPreferenceDestroy(preference));
}
using Preference = gpu::Owner<cublasLtMatmulPreference_t, destroy_preference>;

// Whether a status says that the machine is out of order, and not that there is no such product.
bool of_the_machine(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_INITIALIZED || status == CUBLAS_STATUS_ALLOC_FAILED ||
         status == CUBLAS_STATUS_EXECUTION_FAILED;
}

Preference prefer(std::uint64_t workspace_bytes) {
  cublasLtMatmulPreference_t preference = nullptr;
  DIFFBENCH_CUBLASLT_CHECK(cublasLtMatmulPreferenceCreate(&preference));
  Preference owned(preference);
  DIFFBENCH_CUBLASLT_CHECK(
      cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                           &workspace_bytes, sizeof workspace_bytes));
  return owned;
}

} // namespace

void detail::destroy_operation(cublasLtMatmulDesc_t operation) noexcept {
  DIFFBENCH_CUBLASLT_LOG(cublasLtMatmulDescDestroy(operation));
}
void detail::destroy_layout(cublasLtMatrixLayout_t layout) noexcept {
  DIFFBENCH_CUBLASLT_LOG(cublasLtMatrixLayoutDestroy(layout));
}

template <typename T>
typename Matmul<T>::Operation Matmul<T>::describe(const MatmulShape& shape) {
  cublasLtMatmulDesc_t operation = nullptr;
  DIFFBENCH_CUBLASLT_CHECK(cublasLtMatmulDescCreate(&operation, compute_type<T>, data_type<T>));
  Operation owned(operation);
  const auto transposed = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(operation, CUBLASLT_MATMUL_DESC_TRANSA, transposed(shape.left_transposed));
  set(operation, CUBLASLT_MATMUL_DESC_TRANSB, transposed(shape.right_transposed));
  set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<cublasLtEpilogue_t>(shape.epilogue));
  if (shape.bias != nullptr) {
    set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, shape.bias);
  }
  if (shape.mask != nullptr) {
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, shape.mask);
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, mask_pitch(shape.rows));
  }
  return owned;
}

template <typename T>
typename Matmul<T>::Layout Matmul<T>::layout(std::int64_t rows, std::int64_t columns) {
  cublasLtMatrixLayout_t made = nullptr;
  DIFFBENCH_CUBLASLT_CHECK(cublasLtMatrixLayoutCreate(&made, data_type<T>,
                                                      static_cast<std::uint64_t>(rows),
                                                      static_cast<std::uint64_t>(columns), rows));
  return Layout(made);
}

// With an epilogue any answer but success may mean that there is none for these types, this shape
// or this card: which one the library gives differs between its releases.
template <typename T>
std::optional<Matmul<T>> Matmul<T>::find(const CublasLtHandle& handle, const MatmulShape& shape,
                                         std::size_t workspace_bytes) {
  try {
    return plan(handle, shape, workspace_bytes);
  } catch (const CublasLtError& error) {
    if (shape.epilogue == Epilogue::none || of_the_machine(error.status())) {
      throw;
    }
    return std::nullopt;
  }
}

template <typename T>
std::optional<Matmul<T>> Matmul<T>::plan(const CublasLtHandle& handle, const MatmulShape& shape,
                                         std::size_t workspace_bytes) {
  Matmul product;
  product.operation_ = describe(shape);
  product.left_ =
      shape.left_transposed ? layout(shape.depth, shape.rows) : layout(shape.rows, shape.depth);
  product.right_ = shape.right_transposed ? layout(shape.columns, shape.depth)
                                          : layout(shape.depth, shape.columns);
  product.out_ = layout(shape.rows, shape.columns);
  const Preference preference = prefer(workspace_bytes);
  cublasLtMatmulHeuristicResult_t choice{};
  int found = 0;
  const cublasStatus_t status = cublaslt().cublasLtMatmulAlgoGetHeuristic(
      handle.get(), product.operation_.get(), product.left_.get(), product.right_.get(),
      product.out_.get(), product.out_.get(), preference.get(), 1, &choice, &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0)) {
    return std::nullopt;
  }
  check(status, "cublasLtMatmulAlgoGetHeuristic(...)");
  product.algorithm_ = choice.algo;
  product.workspace_bytes_ = choice.workspaceSize;
  return product;
}

template <typename T>
void Matmul<T>::run(const CublasLtHandle& handle, const gpu::Stream& stream, T alpha, const T* left,
                    const T* right, T beta, T* out, void* workspace) const {
  DIFFBENCH_CUBLASLT_CHECK(cublasLtMatmul(
      handle.get(), operation_.get(), &alpha, left, left_.get(), right, right_.get(), &beta, out,
      out_.get(), out, out_.get(), &algorithm_, workspace, workspace_bytes_, stream.get()));
}

template class Matmul<float>;
template class Matmul<double>;

} // namespace diffbench::mlp::cuda
