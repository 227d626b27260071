// SPDX-License-Identifier: Apache-2.0
// Any bytes as a model file: the reader returns a network with all of its parameters or throws
// InvalidInput with the file's name.
#include "diffbench/mlp/safetensors.hpp"
#include "promises.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace diffbench;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  try {
    const mlp::Model model = mlp::read_safetensors(file.path());
    require(model.parameters.size() == static_cast<std::size_t>(model.network.parameters()),
            "the parameters are the network's");
    require(4 * model.parameters.size() <= size, "and come from the file");
  } catch (const InvalidInput& error) {
    fuzz::require_printable(error);
    require(std::string_view(error.what()).starts_with(file.path().string()),
            "a message begins with the file's name");
  }
  return 0;
}
