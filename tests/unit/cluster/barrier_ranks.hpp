// SPDX-License-Identifier: Apache-2.0
// Ranks as threads that can gather, and nothing else: what agreement and rotation need.
#pragma once

#include "diffbench/cluster/transport.hpp"

#include <algorithm>
#include <barrier>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace diffbench::cluster {

class GatheringRank : public Transport {
 public:
  struct Shared {
    explicit Shared(int ranks) : all(static_cast<std::size_t>(ranks)), barrier(ranks) {}
    std::vector<std::vector<std::byte>> all;
    std::barrier<> barrier;
  };

  GatheringRank(Shared& shared, int rank) : shared_(shared), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(shared_.all.size()); }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    shared_.all[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
    shared_.barrier.arrive_and_wait();
    auto to = all.begin();
    for (const std::vector<std::byte>& bytes : shared_.all) {
      to = std::copy(bytes.begin(), bytes.end(), to);
    }
    shared_.barrier.arrive_and_wait();
  }

  [[nodiscard]] Place place() const override { unused(); }
  [[nodiscard]] std::string description() const override { unused(); }
  void set_time_limit(double) override { unused(); }
  [[nodiscard]] std::unique_ptr<HaloExchange> make_halo_exchange(const HaloMessages&) override {
    unused();
  }
  void broadcast(std::span<std::byte>) override { unused(); }
  void send(int, std::span<const std::byte>) override { unused(); }
  void receive(int, std::span<std::byte>) override { unused(); }
  void end_all(const std::string&) override { unused(); }

 private:
  [[noreturn]] static void unused() { throw std::logic_error("not made for this"); }

  Shared& shared_;
  int rank_;
};

// What `program` threw on each rank: its message, with the kind in front; empty where it threw
// nothing.
inline std::vector<std::string> outcomes(int ranks,
                                         const std::function<void(Transport&)>& program) {
  GatheringRank::Shared shared(ranks);
  std::vector<std::string> outcome(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      GatheringRank transport(shared, rank);
      try {
        program(transport);
      } catch (const InvalidInput& error) {
        outcome[static_cast<std::size_t>(rank)] = std::string("invalid: ") + error.what();
      } catch (const Error& error) {
        outcome[static_cast<std::size_t>(rank)] = std::string("error: ") + error.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return outcome;
}

} // namespace diffbench::cluster
