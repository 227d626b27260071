#include "diffbench/registry.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace diffbench {

std::vector<BackendInfo> backend_ladder() {
  std::vector<BackendInfo> ladder = all_backends();
  std::ranges::sort(ladder, [](const BackendInfo& a, const BackendInfo& b) {
    return std::tie(a.ladder, a.name) < std::tie(b.ladder, b.name);
  });
  return ladder;
}

BackendInfo require_backend(std::string_view name, int device) {
  std::vector<std::string> valid;
  for (const BackendInfo& backend : backend_ladder()) {
    if (backend.name == name) {
      const Probe probe = backend.probe(device);
      if (!probe.available) {
        throw Unavailable("backend '" + std::string(name) + "' is not available: " + probe.reason);
      }
      return backend;
    }
    valid.emplace_back(backend.name);
  }
  for (const MissingBackend& backend : missing_backends()) {
    if (backend.name == name) {
      throw Unavailable(
          "backend '" + std::string(name) +
          "' is not compiled into this build; to get it: " + std::string(backend.how_to_get));
    }
  }
  throw unknown_name("backend", name, valid);
}

} // namespace diffbench
