// SPDX-License-Identifier: Apache-2.0
// The oracle as the session of a backend: right, and what tests plant their faults in.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace diffbench::conformance {

template <typename T>
class OracleSession : public Session<T> {
 public:
  explicit OracleSession(const Problem& problem)
      : problem_(problem), field_(problem.nx, problem.ny) {}

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    std::ranges::copy(cells, field_.row(first));
  }
  void advance(std::int64_t steps) override { advance_reference(problem_, field_, steps); }
  void wait() override {}
  void download_rows(std::int64_t first, std::span<T> cells) override {
    std::copy_n(field_.row(first), cells.size(), cells.begin());
  }
  [[nodiscard]] Provenance provenance() const override { return {}; }

 protected:
  /// As a unit does that knows no denormal numbers.
  static void flush(std::span<T> cells) {
    std::ranges::replace_if(
        cells, [](T u) { return std::abs(u) < std::numeric_limits<T>::min(); }, T{0});
  }

  Problem problem_;
  Field<T> field_;
};

} // namespace diffbench::conformance
