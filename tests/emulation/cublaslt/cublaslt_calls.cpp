// SPDX-License-Identifier: Apache-2.0
// The calls of the emulated cuBLASLt. They are counted and made to fail like those of the runtime.
#include "cublaslt_product.hpp"
#include "race_detector.hpp"
#include "runtime.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace diffbench::emulation {
namespace {

/// The object behind a handle; null, with a report, when there is none of that kind.
template <typename Value>
Value* find(Runtime& state, const void* handle) {
  const auto found = state.library_objects.find(handle);
  Value* const value =
      found == state.library_objects.end() ? nullptr : std::any_cast<Value>(&found->second.value);
  if (value == nullptr) {
    state.report("cuBLASLt is given a descriptor that was destroyed, or never made");
  }
  return value;
}

struct Handle {};
struct Preference {
  std::uint64_t workspace_bytes = 0;
};

// What the library says of an error of the runtime that it met.
cublasStatus_t status_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return CUBLAS_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation: return CUBLAS_STATUS_ALLOC_FAILED;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice: return CUBLAS_STATUS_NOT_INITIALIZED;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

// A call of the library: body gives its status.
template <typename Body>
cublasStatus_t library_call(const char* name, Body body,
                            WhenMadeToFail when = WhenMadeToFail::nothing) {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const cudaError_t error = call(
      name,
      [&](Runtime& state) {
        status = body(state);
        return cudaSuccess;
      },
      when);
  return error == cudaSuccess ? status : status_of(error);
}

template <typename Pointer, typename Value>
cublasStatus_t create(const char* name, const char* what, Pointer* handle, Value value) {
  return library_call(name, [=](Runtime& state) {
    *handle = state.new_handle<Pointer>();
    state.library_objects[*handle] = {std::string("cuBLASLt ") + what, state.counters.calls, value};
    return CUBLAS_STATUS_SUCCESS;
  });
}

template <typename Value>
cublasStatus_t destroy(const char* name, const void* handle) {
  return library_call(
      name,
      [=](Runtime& state) {
        if (find<Value>(state, handle) == nullptr) {
          return CUBLAS_STATUS_INVALID_VALUE;
        }
        state.library_objects.erase(handle);
        return CUBLAS_STATUS_SUCCESS;
      },
      WhenMadeToFail::its_work);
}

cublasStatus_t refuse(Runtime& state, const std::string& why) {
  state.report("cublasLtMatmul: " + why);
  return CUBLAS_STATUS_INVALID_VALUE;
}

// The product that the descriptors make; nothing, when one of them is none.
std::optional<Product> product_of(Runtime& state, cublasLtHandle_t handle,
                                  cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
                                  cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                  cublasLtMatrixLayout_t d) {
  const auto* const described = find<MatmulOperation>(state, operation);
  const MatrixLayout* layouts[] = {find<MatrixLayout>(state, a), find<MatrixLayout>(state, b),
                                   find<MatrixLayout>(state, c), find<MatrixLayout>(state, d)};
  if (find<Handle>(state, handle) == nullptr || described == nullptr ||
      std::any_of(std::begin(layouts), std::end(layouts),
                  [](const MatrixLayout* layout) { return layout == nullptr; })) {
    return std::nullopt;
  }
  return Product{*described, *layouts[0], *layouts[1], *layouts[2], *layouts[3]};
}

double scalar(const void* value, cudaDataType_t type) {
  return type == CUDA_R_32F ? static_cast<double>(*static_cast<const float*>(value))
                            : *static_cast<const double*>(value);
}

// Runs as a kernel does.
void run_product(Runtime& state, int device, const Product& product, const Operands& operands,
                 void* workspace, const std::string& name) {
  ++state.counters.kernels;
  if (state.kernel_fault.due()) {
    state.failed_call = "kernel";
    state.fault(device, state.kernel_fault.code);
    return;
  }
  if (const std::string wrong = wrong_memory(state.memory, product, operands); !wrong.empty()) {
    state.report("cublasLtMatmul: " + wrong);
    state.fault(device, cudaErrorIllegalAddress);
    return;
  }
  if (product.workspace_bytes() > 0) {
    race_detector().access(name, workspace, product.workspace_bytes(), true);
    std::memset(workspace, 0xff, product.workspace_bytes());
  }
  note_accesses(product, operands, name);
  compute(product, operands);
}

template <typename Value>
cublasStatus_t assign(Value& target, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof target) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(&target, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t assign_transposed(bool& target, const void* value, std::size_t bytes) {
  cublasOperation_t operation{};
  const cublasStatus_t status = assign(operation, value, bytes);
  target = operation == CUBLAS_OP_T;
  return status;
}

} // namespace
} // namespace diffbench::emulation

using namespace diffbench::emulation;

std::size_t cublasLtGetVersion() { return 130000; }

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "unknown status";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return create("cublasLtCreate", "handle", handle, Handle{});
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return destroy<Handle>("cublasLtDestroy", handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
  MatmulOperation described;
  described.compute = compute;
  described.scale = scale;
  return create("cublasLtMatmulDescCreate", "operation", operation, described);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  return destroy<MatmulOperation>("cublasLtMatmulDescDestroy", operation);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  return library_call("cublasLtMatmulDescSetAttribute", [=](Runtime& state) {
    auto* const described = find<MatmulOperation>(state, operation);
    if (described == nullptr) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    switch (attribute) {
      case CUBLASLT_MATMUL_DESC_TRANSA:
        return assign_transposed(described->transposed_a, value, bytes);
      case CUBLASLT_MATMUL_DESC_TRANSB:
        return assign_transposed(described->transposed_b, value, bytes);
      case CUBLASLT_MATMUL_DESC_EPILOGUE: return assign(described->epilogue, value, bytes);
      case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return assign(described->bias, value, bytes);
      case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return assign(described->mask, value, bytes);
      case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return assign(described->mask_pitch, value, bytes);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
  });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t pitch) {
  return create("cublasLtMatrixLayoutCreate", "matrix layout", layout,
                MatrixLayout{type, static_cast<std::int64_t>(rows),
                             static_cast<std::int64_t>(columns), pitch});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<MatrixLayout>("cublasLtMatrixLayoutDestroy", layout);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create("cublasLtMatmulPreferenceCreate", "preference", preference, Preference{});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<Preference>("cublasLtMatmulPreferenceDestroy", preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void* value, std::size_t bytes) {
  return library_call("cublasLtMatmulPreferenceSetAttribute", [=](Runtime& state) {
    auto* const found = find<Preference>(state, preference);
    return found == nullptr ? CUBLAS_STATUS_INVALID_VALUE
                            : assign(found->workspace_bytes, value, bytes);
  });
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  return library_call("cublasLtMatmulAlgoGetHeuristic", [=](Runtime& state) {
    *found = 0;
    const auto product = product_of(state, handle, operation, a, b, c, d);
    const auto* const preferred = find<Preference>(state, preference);
    if (!product || preferred == nullptr || wanted < 1) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (const std::string wrong = product->contradiction(); !wrong.empty()) {
      return refuse(state, wrong);
    }
    if (product->in_float64_with_epilogue() && state.float64_epilogue_status != 0) {
      return static_cast<cublasStatus_t>(state.float64_epilogue_status);
    }
    const std::int64_t shortest = std::min({product->rows(), product->columns(), product->depth()});
    if (shortest < state.shortest_matmul_side ||
        product->workspace_bytes() > preferred->workspace_bytes) {
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    results[0] = {};
    results[0].algo = product->signature();
    results[0].workspaceSize = product->workspace_bytes();
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  return library_call("cublasLtMatmul", [=](Runtime& state) {
    const auto product =
        product_of(state, handle, operation, a_layout, b_layout, c_layout, d_layout);
    Stream* const its_stream = state.find_stream(stream);
    if (!product || its_stream == nullptr) {
      return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (const std::string wrong = product->contradiction(); !wrong.empty()) {
      return refuse(state, wrong);
    }
    if (product->in_float64_with_epilogue() && state.float64_epilogue_status != 0) {
      return refuse(state, "float64 has no epilogues");
    }
    const cublasLtMatmulAlgo_t expected = product->signature();
    if (algorithm == nullptr || std::memcmp(&expected, algorithm, sizeof expected) != 0) {
      return refuse(state, "the algorithm was chosen for another product");
    }
    const std::size_t need = product->workspace_bytes();
    if (workspace_bytes < need || (need > 0 && state.memory.find(workspace, need) == nullptr)) {
      return refuse(state, "the workspace is smaller than the algorithm needs");
    }
    const Operands operands{a,
                            b,
                            c,
                            d,
                            scalar(alpha, product->operation.scale),
                            scalar(beta, product->operation.scale)};
    if (const std::string wrong = wrong_memory(state.memory, *product, operands); !wrong.empty()) {
      return refuse(state, wrong);
    }
    const int device = its_stream->device;
    const std::string name = "the product of call " + std::to_string(state.counters.calls);
    return status_of(
        state.issue(*its_stream, [&state, device, product = *product, operands, workspace, name] {
          run_product(state, device, product, operands, workspace, name);
        }));
  });
}
