// The naive port: the field goes to the host and back every few steps, as it does when only the
// inner loop of a program was moved to the device.
#pragma once

#include "diffbench/backend.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// A session whose advance() makes such round trips with another one. It blocks in each: the copy
/// back needs the steps before it, and the steps after need the copy, so nothing can overlap.
template <typename T>
class RoundTripSession final : public Session<T> {
 public:
  /// `every` > 0 steps lie between two trips. `cells` is nx*ny.
  RoundTripSession(std::unique_ptr<Session<T>> session, std::int64_t cells, std::int64_t every)
      : session_(std::move(session)), every_(every) {
    if (session_->host_buffer().empty()) {
      own_.resize(static_cast<std::size_t>(cells));
    }
  }

  void upload(std::span<const T> cells) override {
    session_->upload(cells);
    since_trip_ = 0;
  }

  void advance(std::int64_t steps) override {
    while (steps > 0) {
      const std::int64_t count = std::min(steps, every_ - since_trip_);
      session_->advance(count);
      steps -= count;
      since_trip_ += count;
      if (since_trip_ == every_) {
        const std::span<T> host = own_.empty() ? session_->host_buffer() : std::span<T>(own_);
        session_->download(host);
        session_->upload(host);
        since_trip_ = 0;
      }
    }
  }

  void wait() override { session_->wait(); }
  void download(std::span<T> cells) override { session_->download(cells); }
  [[nodiscard]] std::span<T> host_buffer() override { return session_->host_buffer(); }
  [[nodiscard]] std::optional<PhaseTimes> take_phases() override { return session_->take_phases(); }
  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = session_->provenance();
    provenance.details.emplace_back("roundtrip_every", std::to_string(every_));
    return provenance;
  }

 private:
  std::unique_ptr<Session<T>> session_;
  std::vector<T> own_; ///< where the session has no host buffer
  std::int64_t every_;
  std::int64_t since_trip_ = 0;
};

} // namespace diffbench::bench
