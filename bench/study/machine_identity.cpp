// SPDX-License-Identifier: Apache-2.0
#include "machine_identity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace diffbench::bench {

using nlohmann::ordered_json;

Facts machine_identity() {
  Facts facts = run_context();
  std::erase_if(facts, [](const auto& fact) { // these change by themselves
    const auto& [name, value] = fact;
    return name == "memory_available" || name == "governor";
  });
  return facts;
}

std::string identity_difference(const ordered_json& context) {
  for (const auto& [name, here] : machine_identity()) {
    const auto found = context.find(name);
    const std::string there = found != context.end() && found->is_string()
                                  ? found->get_ref<const std::string&>()
                                  : std::string("unknown");
    if (there != here) {
      return fmt::format("{} is {} there and {} here", name, there, here);
    }
  }
  return "";
}

} // namespace diffbench::bench
