// SPDX-License-Identifier: Apache-2.0
// PyTorch beside the engines, whatever the verb: which peers can run, with how many threads, and
// the files through which a child is given its network.
#pragma once

#include "diffbench/field.hpp"
#include "diffbench/npy.hpp"
#include "peer.hpp"
#include "temporary_directory.hpp"
#include "timed_steps.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// A slow child makes 100 million operations a second.
inline constexpr double slowest_peer_flops = 1e8;

/// Throws InvalidInput for a name that --peer does not know, Unavailable for one that cannot run.
void require_peers(const std::vector<std::string>& names, PeerTask task);

/// `asked`, or without it 1 and all: more threads make PyTorch slower or faster, and a fair
/// comparison has its best. A peer on the GPU has 1.
[[nodiscard]] std::vector<int> peer_threads(std::string_view peer, PeerTask task, int asked = 0);

/// Writes rows of `columns` numbers. Returns the file's name. Throws Error.
template <typename Numbers>
std::string write_rows(const std::filesystem::path& file, const Numbers& numbers,
                       std::int64_t columns) {
  const auto rows = static_cast<std::int64_t>(numbers.size()) / columns;
  Field<float> field(columns, rows, uninitialised);
  std::ranges::transform(numbers, field.cells().begin(),
                         [](auto number) { return static_cast<float>(number); });
  write_npy(file, field);
  return file.string();
}

/// What a child is told of a network that it trains, whatever a step of its `task` is; the files
/// are made in `directory`. Throws Error.
[[nodiscard]] PeerJob network_job(PeerTask task, const std::filesystem::path& directory,
                                  const mlp::Training& training, std::span<const float> start,
                                  const mlp::DataSet& data);

/// The children that peers live in. Importing PyTorch takes seconds, so a child serves one job
/// after another.
class PeerPool {
 public:
  /// Hands `job` to the child of that name and number of threads, started where there is none.
  /// Throws Unavailable, Error.
  [[nodiscard]] std::unique_ptr<TimedSteps> steps(const std::string& name, int threads, int device,
                                                  const TrainingJob& job);

 private:
  using Key = std::pair<std::string, int>;

  TemporaryDirectory exchange_; ///< outlives the peers
  std::map<Key, std::shared_ptr<Peer>> peers_;
};

} // namespace diffbench::bench
