// SPDX-License-Identifier: Apache-2.0
// A session whose every operation takes a known time on the fake clock, counts itself, and can be
// told to throw. It computes nothing: the field it was given comes back. On demand it behaves like
// one on a GPU: keeps an account of its phases, and has memory of its own for copies. Its rows are
// one cell wide.
#pragma once

#include "diffbench/backend.hpp"
#include "fake_clock.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// What is done to a FakeSession, and what it did; shared, because sessions are destroyed.
struct FakeDevice {
  double make_seconds = 0;
  double upload_seconds = 0;
  double step_seconds = 0;
  double wait_seconds = 0;
  double download_seconds = 0;
  bool keeps_account = false;
  bool has_host_buffer = false;
  double free_seconds = 0;
  bool copied_from_buffer = false; ///< by the latest upload
  std::string throws_at;           ///< name of the operation that throws
  int calls_before_throw = 0;
  int alive = 0;
  std::vector<std::string> log;

  void enter(const std::string& operation, double seconds) {
    log.push_back(operation);
    FakeClock::seconds += seconds;
    if (operation == throws_at && calls_before_throw-- == 0) {
      throw std::runtime_error(operation + " broke");
    }
  }
};

class FakeSession final : public Session<float> {
 public:
  explicit FakeSession(FakeDevice& device) : device_(device) {
    device_.enter("make", device_.make_seconds);
    account_.context = device_.make_seconds / 2;
    account_.alloc = device_.make_seconds / 8;
    account_.pin = device_.make_seconds / 4; // and the last eighth nobody explains
    if (device_.has_host_buffer) {
      buffer_.resize(6);
    }
    ++device_.alive;
  }
  ~FakeSession() override {
    FakeClock::seconds += device_.free_seconds;
    --device_.alive;
  }

  void upload_rows(std::int64_t first, std::span<const float> cells) override {
    device_.enter("upload", device_.upload_seconds);
    account_.h2d += device_.upload_seconds;
    account_.h2d_busy += device_.upload_seconds / 2;
    device_.copied_from_buffer = !buffer_.empty() && cells.data() == buffer_.data();
    cells_.resize(std::max(cells_.size(), static_cast<std::size_t>(first) + cells.size()));
    std::copy(cells.begin(), cells.end(), cells_.begin() + first);
  }
  void advance(std::int64_t steps) override {
    const double seconds = device_.step_seconds * static_cast<double>(steps);
    device_.enter("advance", seconds);
    account_.launch += seconds;
    account_.compute_busy += seconds;
  }
  void wait() override {
    device_.enter("wait", device_.wait_seconds);
    account_.compute += device_.wait_seconds / 2;
    account_.sync += device_.wait_seconds / 2;
  }
  void download_rows(std::int64_t first, std::span<float> cells) override {
    device_.enter("download", device_.download_seconds);
    account_.d2h += device_.download_seconds;
    account_.d2h_busy += device_.download_seconds / 2;
    std::copy_n(cells_.begin() + first, cells.size(), cells.begin());
  }
  [[nodiscard]] std::span<float> host_buffer() override { return buffer_; }
  [[nodiscard]] std::optional<PhaseTimes> take_phases() override {
    const PhaseTimes account = std::exchange(account_, {});
    return device_.keeps_account ? std::optional(account) : std::nullopt;
  }
  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  FakeDevice& device_;
  std::vector<float> cells_;
  std::vector<float> buffer_;
  PhaseTimes account_;
};

} // namespace diffbench::bench
