// SPDX-License-Identifier: Apache-2.0
#include "cublaslt_product.hpp"

#include "race_detector.hpp"

#include <vector>

namespace diffbench::emulation {
namespace {

bool uses_bias(cublasLtEpilogue_t epilogue) { return epilogue != CUBLASLT_EPILOGUE_DEFAULT; }
bool uses_mask(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS || epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD;
}

std::size_t bias_bytes(const Product& product) {
  const std::int64_t length =
      product.operation.epilogue == CUBLASLT_EPILOGUE_BGRADB ? product.columns() : product.rows();
  return static_cast<std::size_t>(length) * product.d.element_bytes();
}
std::size_t mask_bytes(const Product& product) {
  return static_cast<std::size_t>(product.operation.mask_pitch / 8 * product.columns());
}

struct Extent {
  const char* role;
  const void* data;
  std::size_t bytes;
};

bool overlap(const Extent& one, const Extent& other) {
  const auto begin = [](const Extent& extent) {
    return static_cast<const std::byte*>(extent.data);
  };
  return begin(one) < begin(other) + other.bytes && begin(other) < begin(one) + one.bytes;
}

template <typename T>
class Computation {
 public:
  Computation(const Product& product, const Operands& operands)
      : product_(product), operation_(product.operation), operands_(operands) {}

  void run() {
    T* const d = static_cast<T*>(operands_.d);
    for (std::int64_t column = 0; column < product_.columns(); ++column) {
      for (std::int64_t row = 0; row < product_.rows(); ++row) {
        d[column * product_.d.pitch + row] = finished(row, column, element(row, column));
      }
    }
    if (operation_.epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD) {
      for (std::int64_t row = 0; row < product_.rows(); ++row) {
        bias()[row] = 0;
        for (std::int64_t column = 0; column < product_.columns(); ++column) {
          bias()[row] += d[column * product_.d.pitch + row];
        }
      }
    }
    if (operation_.epilogue == CUBLASLT_EPILOGUE_BGRADB) {
      for (std::int64_t column = 0; column < product_.columns(); ++column) {
        bias()[column] = 0;
        for (std::int64_t k = 0; k < product_.depth(); ++k) {
          bias()[column] += b(k, column);
        }
      }
    }
  }

 private:
  [[nodiscard]] T a(std::int64_t row, std::int64_t k) const {
    const T* const data = static_cast<const T*>(operands_.a);
    return operation_.transposed_a ? data[row * product_.a.pitch + k]
                                   : data[k * product_.a.pitch + row];
  }
  [[nodiscard]] T b(std::int64_t k, std::int64_t column) const {
    const T* const data = static_cast<const T*>(operands_.b);
    return operation_.transposed_b ? data[k * product_.b.pitch + column]
                                   : data[column * product_.b.pitch + k];
  }
  [[nodiscard]] T* bias() const { return static_cast<T*>(operation_.bias); }

  [[nodiscard]] T element(std::int64_t row, std::int64_t column) const {
    T sum = 0;
    for (std::int64_t k = 0; k < product_.depth(); ++k) {
      sum += a(row, k) * b(k, column);
    }
    T result = static_cast<T>(operands_.alpha) * sum;
    if (operands_.beta != 0) { // C need not be set otherwise
      result += static_cast<T>(operands_.beta) *
                static_cast<const T*>(operands_.c)[column * product_.c.pitch + row];
    }
    return result;
  }

  // The element through the epilogue.
  [[nodiscard]] T finished(std::int64_t row, std::int64_t column, T value) const {
    switch (operation_.epilogue) {
      case CUBLASLT_EPILOGUE_BIAS: return value + bias()[row];
      case CUBLASLT_EPILOGUE_RELU_AUX_BIAS: {
        value += bias()[row];
        const bool passes = value > 0; // a NaN does not, as with fmax(x, 0)
        mark(row, column, passes);
        return passes ? value : 0;
      }
      case CUBLASLT_EPILOGUE_DRELU_BGRAD: return marked(row, column) ? value : 0;
      case CUBLASLT_EPILOGUE_DEFAULT:
      case CUBLASLT_EPILOGUE_BGRADB: break;
    }
    return value;
  }

  // A bit for each element. Where the library has it is its own affair.
  [[nodiscard]] std::uint8_t& mask_byte(std::int64_t row, std::int64_t column) const {
    return static_cast<std::uint8_t*>(operation_.mask)[(column * operation_.mask_pitch + row) / 8];
  }
  void mark(std::int64_t row, std::int64_t column, bool passes) const {
    const auto bit = static_cast<std::uint8_t>(1U << (row % 8));
    std::uint8_t& byte = mask_byte(row, column);
    byte = static_cast<std::uint8_t>(passes ? byte | bit : byte & ~bit);
  }
  [[nodiscard]] bool marked(std::int64_t row, std::int64_t column) const {
    return (mask_byte(row, column) >> (row % 8) & 1) != 0;
  }

  const Product& product_;
  const MatmulOperation& operation_;
  const Operands& operands_;
};

} // namespace

std::string Product::contradiction() const {
  const bool single = operation.compute == CUBLAS_COMPUTE_32F;
  const cudaDataType_t type = single ? CUDA_R_32F : CUDA_R_64F;
  if (operation.scale != type || a.type != type || b.type != type || c.type != type ||
      d.type != type) {
    return "types that do not go together";
  }
  for (const MatrixLayout& layout : {a, b, c, d}) {
    if (layout.rows < 1 || layout.columns < 1 || layout.pitch < layout.rows) {
      return "a leading dimension of " + std::to_string(layout.pitch) + " for columns of " +
             std::to_string(layout.rows);
    }
  }
  const std::int64_t a_rows = operation.transposed_a ? a.columns : a.rows;
  const std::int64_t b_rows = operation.transposed_b ? b.columns : b.rows;
  const std::int64_t b_columns = operation.transposed_b ? b.rows : b.columns;
  if (a_rows != d.rows || b_columns != d.columns || b_rows != depth() || c.rows != d.rows ||
      c.columns != d.columns) {
    return "shapes that do not go together";
  }
  if (uses_bias(operation.epilogue) && operation.bias == nullptr) {
    return "an epilogue with a bias, and no pointer to it";
  }
  if (uses_mask(operation.epilogue)) {
    if (operation.mask == nullptr) {
      return "an epilogue with a mask, and no pointer to it";
    }
    if (operation.mask_pitch < d.rows || operation.mask_pitch % 128 != 0) {
      return "a mask whose leading dimension is " + std::to_string(operation.mask_pitch) +
             ", for columns of " + std::to_string(d.rows) + "; it must be a multiple of 128";
    }
  }
  return {};
}

cublasLtMatmulAlgo_t Product::signature() const {
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  return {{number(rows()), number(columns()), number(depth()), number(operation.epilogue),
           number(operation.transposed_a), number(operation.transposed_b), number(d.type),
           number(workspace_bytes())}};
}

std::size_t Product::workspace_bytes() const {
  return depth() < 8 ? 0 : static_cast<std::size_t>(columns()) * d.element_bytes();
}

std::string wrong_memory(const Memory& memory, const Product& product, const Operands& operands) {
  const MatmulOperation& operation = product.operation;
  std::vector<Extent> extents = {{"A", operands.a, product.a.bytes()},
                                 {"B", operands.b, product.b.bytes()},
                                 {"D", operands.d, product.d.bytes()}};
  if (operands.beta != 0) {
    extents.push_back({"C", operands.c, product.c.bytes()});
  }
  for (const Extent& extent : extents) {
    // The preference's default: an algorithm may rely on it.
    if (reinterpret_cast<std::uintptr_t>(extent.data) % 256 != 0) {
      return std::string(extent.role) + " is not aligned to 256 bytes";
    }
  }
  if (overlap(extents[0], extents[2]) || overlap(extents[1], extents[2])) {
    return "D overlaps an operand";
  }
  if (uses_bias(operation.epilogue)) {
    extents.push_back({"the bias", operation.bias, bias_bytes(product)});
  }
  if (uses_mask(operation.epilogue)) {
    extents.push_back({"the mask", operation.mask, mask_bytes(product)});
  }
  for (const Extent& extent : extents) {
    const Buffer* const buffer = memory.find(extent.data, extent.bytes);
    if (buffer == nullptr || buffer->kind == MemoryKind::pinned ||
        buffer->kind == MemoryKind::registered) {
      return std::string(extent.role) + " of " + std::to_string(extent.bytes) +
             " bytes does not lie in device memory";
    }
  }
  return {};
}

void note_accesses(const Product& product, const Operands& operands, const std::string& name) {
  const auto note = [&](const void* data, const MatrixLayout& layout, bool writes) {
    for (std::int64_t column = 0; column < layout.columns; ++column) {
      const auto offset = static_cast<std::size_t>(column * layout.pitch) * layout.element_bytes();
      race_detector().access(name, static_cast<const std::byte*>(data) + offset,
                             static_cast<std::size_t>(layout.rows) * layout.element_bytes(),
                             writes);
    }
  };
  const MatmulOperation& operation = product.operation;
  note(operands.a, product.a, false);
  note(operands.b, product.b, false);
  if (operands.beta != 0) {
    note(operands.c, product.c, false);
  }
  if (uses_bias(operation.epilogue)) {
    race_detector().access(name, operation.bias, bias_bytes(product),
                           operation.epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD ||
                               operation.epilogue == CUBLASLT_EPILOGUE_BGRADB);
  }
  if (uses_mask(operation.epilogue)) {
    race_detector().access(name, operation.mask, mask_bytes(product),
                           operation.epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
  }
  note(operands.d, product.d, true);
}

void compute(const Product& product, const Operands& operands) {
  if (product.d.type == CUDA_R_32F) {
    Computation<float>(product, operands).run();
  } else {
    Computation<double>(product, operands).run();
  }
}

} // namespace diffbench::emulation
