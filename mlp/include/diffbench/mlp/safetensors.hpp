// SPDX-License-Identifier: Apache-2.0
// Model files: safetensors, as the library of that name writes them from a state_dict().
//
// Eight bytes with the size of the header (least significant first), the header in JSON (for each
// tensor its dtype, shape and place in the data), the data. Format: the safetensors project's
// README, "Format".
#pragma once

#include "diffbench/mlp/network.hpp"

#include <filesystem>
#include <span>
#include <vector>

namespace diffbench::mlp {

struct Model {
  Network network;
  std::vector<float> parameters; ///< as Network lays them out
};

/// Reads a Sequential of Linear layers with ReLU between: tensors NAME.weight [outputs, inputs] and
/// NAME.bias [outputs] in F32 or F64 (rounded), layers in the order of the numbers in their names.
/// Throws InvalidInput, with the file's name, for a file that is damaged or lies about its sizes,
/// and for tensors that are no such network.
[[nodiscard]] Model read_safetensors(const std::filesystem::path& file);

/// Writes float32 under the names of PyTorch's Sequential(Linear, ReLU, Linear, ...): 0.weight,
/// 0.bias, 2.weight, ... The file is complete or not there. Throws Error.
void write_safetensors(const std::filesystem::path& file, const Network& network,
                       std::span<const float> parameters);

} // namespace diffbench::mlp
