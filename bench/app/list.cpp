#include "list.hpp"

#include "diffbench/registry.hpp"
#include "peer.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace diffbench::bench {

namespace {

std::size_t widest_name() {
  std::size_t widest = 0;
  for (const BackendInfo& backend : all_backends()) {
    widest = std::max(widest, backend.name.size());
  }
  for (const MissingBackend& backend : missing_backends()) {
    widest = std::max(widest, backend.name.size());
  }
  for (const std::string& name : peer_names()) {
    widest = std::max(widest, name.size());
  }
  return widest;
}

void list_peers(std::ostream& out, std::size_t width, std::string_view title,
                std::string_view option, PeerTask task) {
  fmt::print(out, "\n{:<{}}{:<11}{}\n", title, width, "available", "how to use");
  for (const std::string& name : peer_names(task)) {
    const Probe probe = probe_peer(name, task);
    fmt::print(out, "{:<{}}{:<11}{}\n", name, width, probe.available ? "yes" : "no",
               probe.available ? fmt::format("{} {}", option, name) : probe.reason);
  }
}

} // namespace

int run_list(std::ostream& out) {
  const std::size_t width = widest_name() + 2;
  auto row = [&](std::string_view name, std::string_view device, std::string_view threads,
                 std::string_view available, std::string_view description) {
    fmt::print(out, "{:<{}}{:<10}{:<9}{:<11}{}\n", name, width, device, threads, available,
               description);
  };
  row("backend", "device", "threads", "available", "description");
  for (const BackendInfo& backend : backend_ladder()) {
    const Probe probe = backend.probe(0);
    row(backend.name, to_string(backend.device), backend.threaded ? "yes" : "no",
        probe.available ? "yes" : "no", probe.available ? backend.description : probe.reason);
  }
  for (const MissingBackend& backend : missing_backends()) {
    row(backend.name, "-", "-", "no", fmt::format("not compiled: {}", backend.how_to_get));
  }

  list_peers(out, width, "peer", "--peer", PeerTask::diffusion);
  list_peers(out, width, "peer, mlp", "mlp depth --peer", PeerTask::training);
  return 0;
}

} // namespace diffbench::bench
