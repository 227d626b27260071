// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process: what the tests run thousands of times, and, with an emulated
// network between them, the cluster of a laptop.
#pragma once

#include "diffbench/cluster/transport.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::cluster {

/// A network by the alpha-beta model (Hockney, "The communication challenge for MPP", Parallel
/// Computing 20, 1994): a message of b bytes takes alpha + b / beta. A rank has one link in each
/// direction: of messages that it sends at once, one follows the other.
struct EmulatedNetwork {
  double latency_seconds = 0;  ///< alpha
  double bytes_per_second = 0; ///< beta; 0: no limit

  [[nodiscard]] bool emulated() const { return latency_seconds > 0 || bytes_per_second > 0; }
  /// That of a message.
  [[nodiscard]] double seconds(double bytes) const {
    return latency_seconds + (bytes_per_second > 0 ? bytes / bytes_per_second : 0);
  }
  bool operator==(const EmulatedNetwork&) const = default;
};

/// "10us,25GB/s": latency in s, ms, us or ns, and bandwidth in GB/s or MB/s (powers of ten). Throws
/// InvalidInput for anything else, for what is negative or not finite, and for a bandwidth of zero.
[[nodiscard]] EmulatedNetwork parse_network(std::string_view text);
/// As parse_network() reads it.
[[nodiscard]] std::string to_string(const EmulatedNetwork& network);

/// What becomes of a message between neighbours, for tests.
struct Fate {
  bool lost = false;
  double late_seconds = 0;
  bool after_next = false; ///< comes behind the next one to the same neighbour
};

/// Decides it; may also change the message. Called on the sending rank's thread.
using Tamper = std::function<Fate(int from, int to, std::vector<std::byte>& message)>;

/// Copies a halo message from or to memory of a device, on the thread of the rank that has it, and
/// blocks. May throw Error.
using CopyMessage = std::function<void(void* to, const void* from, std::size_t bytes)>;

/// The ranks of one process. Halo messages pass the emulated network; what else is said (commands,
/// agreements) takes no time of it.
class ThreadRanks {
 public:
  /// With `copy` the transports take device memory; without it the host copies.
  explicit ThreadRanks(int ranks, const EmulatedNetwork& network = {}, Tamper tamper = {},
                       CopyMessage copy = {});
  ThreadRanks(const ThreadRanks&) = delete;
  ThreadRanks& operator=(const ThreadRanks&) = delete;
  ~ThreadRanks();

  /// To be used by one thread.
  [[nodiscard]] Transport& transport(int rank);

 private:
  struct Shared;
  class OneRank;
  class Exchange;

  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<OneRank>> ranks_;
};

} // namespace diffbench::cluster
