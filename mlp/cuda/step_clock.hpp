// SPDX-License-Identifier: Apache-2.0
// The account of an engine on a device: host times of its calls, device times of stretches of its
// streams.
#pragma once

#include "diffbench/gpu/stream.hpp"
#include "diffbench/mlp/engine.hpp"
#include "diffbench/stopwatch.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace diffbench::mlp::cuda {

using Part = double StepTimes::*;

class StepClock {
 public:
  explicit StepClock(bool on) : on_(on) {}

  [[nodiscard]] bool on() const { return on_; }

  /// Runs `work`, and adds the host's time to a part.
  template <typename Work>
  void on_host(Part part, Work work) {
    if (!on_) {
      work();
      return;
    }
    const ScopedTimer timer(times_.host.*part);
    work();
  }

  /// Runs `issue`, and notes what it issues on `stream` as a stretch of a part.
  template <typename Issue>
  void on_device(const gpu::Stream& stream, Part part, Issue issue) {
    if (!on_) {
      issue();
      return;
    }
    if (used_ == stretches_.size()) {
      stretches_.emplace_back();
    }
    Stretch& stretch = stretches_[used_];
    stretch.part = part;
    stream.record(stretch.begin);
    issue();
    stream.record(stretch.end);
    ++used_;
  }

  /// Waits for `stream`, which all noted stretches are on or before, and reads their times.
  void settle(const gpu::Stream& stream) {
    const Stopwatch watch;
    stream.synchronize();
    if (on_) {
      harvest(watch.seconds());
    }
  }

  [[nodiscard]] EngineTimes take() {
    launch_before_ = 0;
    return std::exchange(times_, {});
  }

 private:
  /// The device is idle, and the host has waited for it for `waited` seconds: reads what it did.
  /// While it worked beyond what the host spent on issuing, the wait was that work's; the rest was
  /// synchronization.
  void harvest(double waited) {
    StepTimes busy;
    for (std::size_t i = 0; i < used_; ++i) {
      const Stretch& stretch = stretches_[i];
      busy.*stretch.part += stretch.end.seconds_since(stretch.begin);
    }
    used_ = 0;
    const double issuing = times_.host.launch - launch_before_;
    launch_before_ = times_.host.launch;
    constexpr Part computing[] = {&StepTimes::data, &StepTimes::forward, &StepTimes::backward,
                                  &StepTimes::update};
    double total = 0;
    for (const Part part : computing) {
      total += busy.*part;
    }
    const double share = total > 0 ? std::clamp(total - issuing, 0.0, waited) / total : 0;
    times_.host.sync += waited - share * total;
    for (const Part part : computing) {
      times_.host.*part += share * busy.*part;
      times_.device.*part += busy.*part;
    }
    times_.device.h2d += busy.h2d;
  }

  struct Stretch {
    Part part = nullptr;
    gpu::Event begin, end;
  };

  bool on_;
  EngineTimes times_;
  double launch_before_ = 0; ///< times_.host.launch at the last harvest
  std::vector<Stretch> stretches_;
  std::size_t used_ = 0;
};

} // namespace diffbench::mlp::cuda
