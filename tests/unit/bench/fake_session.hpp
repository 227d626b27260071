// A session whose every operation takes a known time on the fake clock, counts itself, and can be
// told to throw. It computes nothing: the field it was given comes back.
#pragma once

#include "diffbench/backend.hpp"
#include "fake_clock.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace diffbench::bench {

/// What is done to a FakeSession, and what it did; shared, because sessions are destroyed.
struct FakeDevice {
  double make_seconds = 0;
  double upload_seconds = 0;
  double step_seconds = 0;
  double wait_seconds = 0;
  double download_seconds = 0;
  std::string throws_at; ///< name of the operation that throws
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
    ++device_.alive;
  }
  ~FakeSession() override { --device_.alive; }

  void upload(std::span<const float> cells) override {
    device_.enter("upload", device_.upload_seconds);
    cells_.assign(cells.begin(), cells.end());
  }
  void advance(std::int64_t steps) override {
    device_.enter("advance", device_.step_seconds * static_cast<double>(steps));
  }
  void wait() override { device_.enter("wait", device_.wait_seconds); }
  void download(std::span<float> cells) override {
    device_.enter("download", device_.download_seconds);
    std::copy(cells_.begin(), cells_.end(), cells.begin());
  }
  [[nodiscard]] Provenance provenance() const override { return {}; }

 private:
  FakeDevice& device_;
  std::vector<float> cells_;
};

} // namespace diffbench::bench
