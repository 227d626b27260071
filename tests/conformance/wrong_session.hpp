// SPDX-License-Identifier: Apache-2.0
// A correct session that can be given one fault: the proof that the checks can fail.
#pragma once

#include "oracle_session.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <span>

namespace diffbench::conformance {

enum class Fault {
  none,
  contracts,    ///< fma in the update, one rounding too few
  wrong_corner, ///< the last cell is one unit in the last place off
  flushes_denormals,
  changes_rounding,    ///< of the calling thread, and with it the oracle's
  swallows_nan,        ///< NaN becomes 0, as with max(0, NaN)
  writes_after_output, ///< one cell behind the caller's span
  writes_before_output,
  reads_before_input, ///< takes cell -1 for cell 0
  changes_input,
  keeps_input,           ///< reads the caller's span after upload has returned
  replaces_rows_above,   ///< rows [first - 1, ...) instead of [first, ...), but for first = 0
  clears_other_rows,     ///< when some are replaced
  ignores_rows,          ///< that are uploaded when it has advanced
  downloads_first_rows,  ///< whichever are asked for
  writes_another_row,    ///< behind the span of a part of the field
  steps_for_none,        ///< advance(0) makes a step
  restarts_each_advance, ///< advance goes on from the upload, not from the field
  ignores_second_upload,
  downloads_too_early, ///< does not wait for the last advance
  shares_its_field,    ///< with all other sessions
  loses_flux,          ///< through one edge cell
  drops_last_row,      ///< does not advance it
};

template <typename T>
class WrongSession final : public OracleSession<T> {
 public:
  WrongSession(const Problem& problem, Fault fault)
      : OracleSession<T>(problem),
        fault_(fault),
        uploaded_(problem.nx, problem.ny),
        before_(problem.nx, problem.ny) {}

  ~WrongSession() override {
    if (fault_ == Fault::changes_rounding) {
      std::fesetround(FE_TONEAREST);
    }
  }

  void upload_rows(std::int64_t first, std::span<const T> cells) override {
    if ((fault_ == Fault::ignores_second_upload && input_.data() != nullptr) ||
        (fault_ == Fault::ignores_rows && has_advanced_)) {
      return;
    }
    if (fault_ == Fault::replaces_rows_above && first > 0) {
      --first;
    }
    if (fault_ == Fault::clears_other_rows) {
      std::ranges::fill(field().cells(), T{0});
    }
    input_ = cells;
    input_first_ = first;
    std::ranges::copy(cells, field().row(first));
    if (fault_ == Fault::reads_before_input) {
      *field().row(first) = cells.data()[-1];
    }
    if (fault_ == Fault::changes_input) {
      const_cast<T&>(cells.back()) = 0; // NOLINT: the fault itself
    }
    std::ranges::copy(field().cells(), uploaded_.cells().begin());
  }

  void advance(std::int64_t steps) override {
    std::ranges::copy(field().cells(), before_.cells().begin());
    if (fault_ == Fault::changes_rounding) {
      std::fesetround(FE_UPWARD);
    }
    if (fault_ == Fault::restarts_each_advance) {
      std::ranges::copy(uploaded_.cells(), field().cells().begin());
    }
    if (fault_ == Fault::keeps_input) {
      std::ranges::copy(input_, field().row(input_first_));
    }
    if (fault_ == Fault::steps_for_none) {
      steps = std::max<std::int64_t>(steps, 1);
    }
    for (std::int64_t step = 0; step < steps; ++step) {
      one_step();
    }
    has_advanced_ = true;
  }

  void download_rows(std::int64_t first, std::span<T> cells) override {
    const Field<T>& from = fault_ == Fault::downloads_too_early ? before_ : field();
    const T* const row = from.row(fault_ == Fault::downloads_first_rows ? 0 : first);
    std::copy_n(row, cells.size(), cells.begin());
    if (fault_ == Fault::writes_another_row && std::ssize(cells) < problem_.cells()) {
      std::copy_n(row, problem_.nx, cells.data() + cells.size());
    }
    if (fault_ == Fault::writes_after_output) {
      cells.data()[cells.size()] = 0;
    }
    if (fault_ == Fault::writes_before_output) {
      cells.data()[-1] = 0;
    }
  }

 private:
  using OracleSession<T>::problem_;

  Field<T>& field() {
    static Field<T> shared;
    if (fault_ != Fault::shares_its_field) {
      return this->field_;
    }
    if (shared.nx() != problem_.nx || shared.ny() != problem_.ny) {
      shared = Field<T>(problem_.nx, problem_.ny);
    }
    return shared;
  }

  void one_step() {
    Field<T>& now = field();
    Field<T> old(problem_.nx, problem_.ny);
    std::ranges::copy(now.cells(), old.cells().begin());
    advance_reference(problem_, now, 1);
    T& first = now.cells().front();
    T& last = now.cells().back();
    switch (fault_) {
      case Fault::contracts: contract(old, now); break;
      case Fault::wrong_corner: last = std::nextafter(last, T{1000}); break;
      case Fault::flushes_denormals: this->flush(now.cells()); break;
      case Fault::swallows_nan:
        std::ranges::replace_if(
            now.cells(), [](T u) { return std::isnan(u); }, T{0});
        break;
      case Fault::loses_flux:
        first -= problem_.template update_factor<T>() * old.cells().front();
        break;
      case Fault::drops_last_row:
        std::copy_n(old.row(problem_.ny - 1), problem_.nx, now.row(problem_.ny - 1));
        break;
      default: break;
    }
  }

  // The interior is enough for the fault to show.
  void contract(const Field<T>& old, Field<T>& now) {
    for (std::int64_t y = 1; y + 1 < problem_.ny; ++y) {
      for (std::int64_t x = 1; x + 1 < problem_.nx; ++x) {
        const T u = old.row(y)[x];
        const T lap = old.row(y - 1)[x] + old.row(y + 1)[x] + old.row(y)[x - 1] +
                      old.row(y)[x + 1] - T{4} * u;
        now.row(y)[x] = std::fma(problem_.template update_factor<T>(), lap, u);
      }
    }
  }

  Fault fault_;
  Field<T> uploaded_;
  Field<T> before_;
  std::span<const T> input_;
  std::int64_t input_first_ = 0;
  bool has_advanced_ = false;
};

} // namespace diffbench::conformance
