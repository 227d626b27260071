// SPDX-License-Identifier: Apache-2.0
// The proof of a row on other fields than its run's.
//
// The small ones are solved by sessions of their own, made as the row's, so that shapes, boundaries
// and remainders come up that its run does not have. What the row will be timed with, its very
// session with the plan for its size, is proved on one more field of its own size.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/field.hpp"
#include "diffbench/proof_fields.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/verify.hpp"
#include "interrupt.hpp"
#include "result.hpp"
#include "timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

/// The steps of a sweep, and those between two exchanges of halos, as far as it says.
[[nodiscard]] inline std::vector<std::int64_t> depths_of(const Provenance& provenance) {
  std::vector<std::int64_t> depths;
  for (const std::optional<std::int64_t>& depth : {provenance.sweep_depth, provenance.halo_depth}) {
    if (depth.value_or(0) > 1) {
      depths.push_back(*depth);
    }
  }
  return depths;
}

/// Collects how the fields of one row fare.
class FieldProof {
 public:
  /// 0: bit for bit.
  explicit FieldProof(std::int64_t tolerance_ulps) : tolerance_(tolerance_ulps) {}

  /// A field that was tried. `found` says how it differs, `steps` and the rest which one it was;
  /// found.cells = 0: not at all.
  void add(const Problem& problem, ProofCells cells, std::int64_t steps, const Difference& found) {
    const std::string grid = fmt::format("{}x{}", problem.nx, problem.ny);
    add_new(fields_.grids, grid);
    add_new(fields_.boundaries, problem.boundary);
    fields_.most_steps = std::max(fields_.most_steps, steps);
    ++fields_.count;
    if (found.cells == 0 && found.nonfinite == 0) {
      return;
    }
    max_ulps_ = std::max(max_ulps_, found.max_ulps);
    const bool beyond = tolerance_ == 0 || found.nonfinite > 0 || found.max_ulps > tolerance_;
    if (!fields_.wrong || beyond) {
      fields_.wrong = {.nx = problem.nx,
                       .ny = problem.ny,
                       .boundary = problem.boundary,
                       .cells = cells,
                       .steps = steps,
                       .difference = found};
    }
    wrong_ = wrong_ || beyond;
  }

  /// Beyond the tolerance: more fields would say nothing new.
  [[nodiscard]] bool wrong() const { return wrong_; }
  [[nodiscard]] std::int64_t max_ulps() const { return max_ulps_; }
  [[nodiscard]] const ProvedFields& fields() const { return fields_; }

 private:
  template <typename Element>
  static void add_new(std::vector<Element>& list, const Element& element) {
    if (std::ranges::find(list, element) == list.end()) {
      list.push_back(element);
    }
  }

  std::int64_t tolerance_;
  ProvedFields fields_;
  std::int64_t max_ulps_ = 0;
  bool wrong_ = false;
};

/// One session on one field, after each of the ascending numbers of steps.
template <typename T>
void prove_session(Session<T>& session, const Problem& problem, ProofCells cells,
                   std::span<const std::int64_t> counts, FieldProof& proof) {
  Field<T> expected(problem.nx, problem.ny);
  Field<T> field(problem.nx, problem.ny);
  fill_proof_cells(cells, expected);
  std::int64_t done = 0;
  for (const std::int64_t steps : counts) {
    if (proof.wrong()) {
      return;
    }
    check_interrupt();
    advance_reference(problem, expected, steps - std::exchange(done, steps));
    fill_proof_cells(cells, field);
    time_end_to_end<SteadyClock>(session, field.cells(), steps);
    proof.add(problem, cells, steps,
              difference<T>(std::as_const(field).cells(), std::as_const(expected).cells(),
                            problem.nx, steps));
  }
}

template <typename T>
using SessionMaker = std::function<std::unique_ptr<Session<T>>(const Problem&)>;

/// All small fields, up to the first that is wrong. `make` may give no session, or throw
/// Unavailable or InvalidInput, for a problem that the backend does not know, or has no room for:
/// that field is left out. `depths`: of the row's own session. Throws what sessions throw.
template <typename T>
void prove_small_fields(const SessionMaker<T>& make, std::span<const std::int64_t> depths,
                        bool brief, FieldProof& proof) {
  for (const ProofField& field : proof_fields(dtype_of<T>, brief)) {
    if (proof.wrong()) {
      return;
    }
    std::unique_ptr<Session<T>> session;
    try {
      session = make(field.problem);
    } catch (const Unavailable&) {
    } catch (const InvalidInput&) {
    }
    if (session == nullptr) {
      continue;
    }
    std::vector<std::int64_t> all_depths(depths.begin(), depths.end());
    for (const ProofCells cells : field.cells) {
      const std::int64_t one_step[] = {1};
      prove_session<T>(*session, field.problem, cells, one_step, proof);
      if (cells == field.cells.front()) { // it knows its own depth now
        std::ranges::copy(depths_of(session->provenance()), std::back_inserter(all_depths));
      }
      const bool thorough = field.thorough && cells == ProofCells::random;
      const std::vector<std::int64_t> counts = proof_steps(all_depths, thorough);
      prove_session<T>(*session, field.problem, cells, std::span(counts).subspan(1), proof);
    }
  }
}

/// The numbers of steps that a field of the row's own size is proved with: first what tells most,
/// as far as that is at most an eighth of the `steps` that its first run made, or little.
[[nodiscard]] inline std::vector<std::int64_t> own_size_steps(const Problem& problem,
                                                              std::span<const std::int64_t> depths,
                                                              std::int64_t steps) {
  constexpr std::int64_t little = std::int64_t{1}
                                  << 25; // steps of cells: 0.05 s of the slowest rows
  std::int64_t left = std::max(little / problem.cells(), steps / 8);
  const std::int64_t depth = depths.empty() ? 1 : std::ranges::max(depths);
  std::vector<std::int64_t> counts;
  for (const std::int64_t count : {depth + 1, std::int64_t{1}, depth}) {
    if (count <= left && std::ranges::find(counts, count) == counts.end()) {
      counts.push_back(count);
      left -= count;
    }
  }
  std::ranges::sort(counts);
  return counts;
}

} // namespace diffbench::bench
