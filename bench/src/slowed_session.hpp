// A planted slowdown: the same work and the same bits in a little more time. What is to find
// slowdowns is tested with it.
#pragma once

#include "diffbench/backend.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace diffbench::bench {

/// A session whose advance() blocks, and then keeps the CPU busy for `fraction` of what it took.
template <typename T, typename Clock = std::chrono::steady_clock>
class SlowedSession final : public Session<T> {
 public:
  SlowedSession(std::unique_ptr<Session<T>> session, double fraction)
      : session_(std::move(session)), fraction_(fraction) {}

  void upload(std::span<const T> cells) override { session_->upload(cells); }
  void advance(std::int64_t steps) override {
    const auto start = Clock::now();
    session_->advance(steps);
    session_->wait();
    const auto end = start + std::chrono::duration_cast<typename Clock::duration>(
                                 (Clock::now() - start) * (1 + fraction_));
    while (Clock::now() < end) {
    }
  }
  void wait() override { session_->wait(); }
  void download(std::span<T> cells) override { session_->download(cells); }
  [[nodiscard]] std::span<T> host_buffer() override { return session_->host_buffer(); }
  [[nodiscard]] std::optional<PhaseTimes> take_phases() override { return session_->take_phases(); }
  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = session_->provenance();
    provenance.details.emplace_back("planted_slowdown", std::to_string(fraction_));
    return provenance;
  }

 private:
  std::unique_ptr<Session<T>> session_;
  double fraction_;
};

} // namespace diffbench::bench
