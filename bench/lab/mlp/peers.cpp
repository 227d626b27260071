#include "peers.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/machine.hpp"

namespace diffbench::bench {

void require_peers(const std::vector<std::string>& names, PeerTask task) {
  const std::vector<std::string> known = peer_names(task);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      throw unknown_name("peer", name, known);
    }
    if (const Probe probe = probe_peer(name, task); !probe.available) {
      throw Unavailable(probe.reason);
    }
  }
}

DeviceKind peer_device(std::string_view peer) {
  return peer == "torch" ? DeviceKind::cpu : DeviceKind::cuda;
}

std::vector<int> peer_threads(std::string_view peer, int asked) {
  if (peer_device(peer) != DeviceKind::cpu) {
    return {1};
  }
  if (asked != 0) {
    return {asked};
  }
  const int all = usable_cpus();
  return all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
}

} // namespace diffbench::bench
