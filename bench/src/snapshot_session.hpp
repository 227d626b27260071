// Snapshots: every few steps the field is copied to the host, as in a program that draws or saves
// it. What the program then does with it is left out.
#pragma once

#include "diffbench/backend.hpp"
#include "timing.hpp"

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

/// A session whose advance() takes snapshots of another one. Where that was made with
/// SessionOptions::async, the copies run beside the steps that follow; otherwise it blocks in each.
/// The result of a run that ends with a snapshot is that snapshot, so the check of the result is
/// one of the copies, too.
template <typename T>
class SnapshotSession final : public Session<T> {
 public:
  /// `every` > 0 steps lie between two snapshots. `cells` is nx*ny.
  SnapshotSession(std::unique_ptr<Session<T>> session, std::int64_t cells, std::int64_t every)
      : session_(std::move(session)), every_(every) {
    if (session_->host_buffer().empty()) {
      own_.resize(static_cast<std::size_t>(cells));
    }
  }

  void upload(std::span<const T> cells) override {
    session_->upload(cells);
    since_snapshot_ = 0;
    current_ = false;
  }

  void advance(std::int64_t steps) override {
    while (steps > 0) {
      const std::int64_t count = std::min(steps, every_ - since_snapshot_);
      session_->advance(count);
      steps -= count;
      since_snapshot_ += count;
      current_ = since_snapshot_ == every_;
      if (current_) {
        session_->wait(); // the place of the snapshot before is free once it has arrived
        session_->start_download(snapshot());
        since_snapshot_ = 0;
      }
    }
  }

  void wait() override { session_->wait(); }

  void download(std::span<T> cells) override {
    if (current_) {
      session_->wait();
      copy_cells(snapshot(), cells);
    } else {
      session_->download(cells);
    }
  }

  [[nodiscard]] std::span<T> host_buffer() override { return session_->host_buffer(); }
  [[nodiscard]] std::optional<PhaseTimes> take_phases() override { return session_->take_phases(); }
  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = session_->provenance();
    provenance.details.emplace_back("snapshot_every", std::to_string(every_));
    return provenance;
  }

 private:
  std::span<T> snapshot() { return own_.empty() ? session_->host_buffer() : std::span<T>(own_); }

  std::unique_ptr<Session<T>> session_;
  std::vector<T> own_; ///< where the session has no host buffer
  std::int64_t every_;
  std::int64_t since_snapshot_ = 0;
  bool current_ = false; ///< no step has come after the latest snapshot
};

} // namespace diffbench::bench
