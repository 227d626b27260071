#include "list.hpp"

#include "diffbench/registry.hpp"
#include "peer.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace diffbench::bench {

int run_list(std::ostream& out) {
  constexpr auto row = "{:<16}{:<8}{:<9}{:<11}{}\n";
  fmt::print(out, fmt::runtime(row), "backend", "device", "threads", "available", "description");
  for (const BackendInfo& backend : backend_ladder()) {
    const Probe probe = backend.probe();
    fmt::print(out, fmt::runtime(row), backend.name, to_string(backend.device),
               backend.threaded ? "yes" : "no", probe.available ? "yes" : "no",
               probe.available ? std::string(backend.description) : probe.reason);
  }
  for (const MissingBackend& backend : missing_backends()) {
    fmt::print(out, fmt::runtime(row), backend.name, "-", "-", "no",
               fmt::format("not compiled: {}", backend.how_to_get));
  }

  fmt::print(out, "\n{:<16}{:<11}{}\n", "peer", "available", "how to use");
  for (const std::string& name : peer_names()) {
    const Probe probe = probe_peer(name);
    fmt::print(out, "{:<16}{:<11}{}\n", name, probe.available ? "yes" : "no",
               probe.available ? fmt::format("--peer {}", name) : probe.reason);
  }
  return 0;
}

} // namespace diffbench::bench
