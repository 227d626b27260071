// SPDX-License-Identifier: Apache-2.0
// A product of the emulated cuBLASLt: what its descriptors say, what is wrong with it, and its
// value.
#pragma once

#include "memory.hpp"

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace diffbench::emulation {

struct MatmulOperation {
  cublasComputeType_t compute{};
  cudaDataType_t scale{};
  bool transposed_a = false;
  bool transposed_b = false;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  void* mask = nullptr;
  std::int64_t mask_pitch = 0; ///< bits
};

/// Column-major.
struct MatrixLayout {
  cudaDataType_t type{};
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t pitch = 0;

  [[nodiscard]] std::size_t element_bytes() const {
    return type == CUDA_R_32F ? sizeof(float) : sizeof(double);
  }
  /// From the first element to behind the last.
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>((columns - 1) * pitch + rows) * element_bytes();
  }
};

/// D = epilogue(alpha op(A) op(B) + beta C).
struct Product {
  MatmulOperation operation;
  MatrixLayout a, b, c, d;

  [[nodiscard]] std::int64_t rows() const { return d.rows; }
  [[nodiscard]] std::int64_t columns() const { return d.columns; }
  [[nodiscard]] std::int64_t depth() const { return operation.transposed_a ? a.rows : a.columns; }

  [[nodiscard]] bool in_float64_with_epilogue() const {
    return d.type == CUDA_R_64F && operation.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
  }
  /// What contradicts itself in it; empty: nothing.
  [[nodiscard]] std::string contradiction() const;
  /// What an algorithm is chosen for.
  [[nodiscard]] cublasLtMatmulAlgo_t signature() const;
  /// Of the algorithm that is chosen.
  [[nodiscard]] std::size_t workspace_bytes() const;
};

struct Operands {
  const void* a;
  const void* b;
  const void* c;
  void* d;
  double alpha;
  double beta;
};

/// What is wrong with the memory that it names; empty: nothing.
[[nodiscard]] std::string wrong_memory(const Memory& memory, const Product& product,
                                       const Operands& operands);

/// Tells the race detector what the product, called `name`, reads and writes.
void note_accesses(const Product& product, const Operands& operands, const std::string& name);

void compute(const Product& product, const Operands& operands);

} // namespace diffbench::emulation
