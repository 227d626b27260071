// SPDX-License-Identifier: Apache-2.0
#include "asked_work.hpp"

#include "assumed_end.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace diffbench::bench {

namespace {

using Bound = AssumedEnd::Bound;

template <typename Which>
void add_scaled(Counts<Which>& to, const Counts<Which>& what, double weight) {
  for (std::size_t i = 0; i < to.all().size(); ++i) {
    to.all()[i] += weight * what.all()[i];
  }
}

void add_scaled(AskedWork& to, const AskedWork& what, double weight) {
  add_scaled(to.counts, what.counts, weight);
  for (const AskedKernel& kernel : what.kernels) {
    auto known = std::ranges::find(to.kernels, kernel.name, &AskedKernel::name);
    if (known == to.kernels.end()) {
      known = to.kernels.insert(known, {.name = kernel.name, .counts = {}});
    }
    add_scaled(known->counts, kernel.counts, weight);
  }
}

/// The weight of `at` where `wanted` lies between the ends of `runs`, or beyond them.
double weight_of(std::span<const CountedRun> runs, double CountedRun::*axis, double at,
                 double wanted) {
  const auto [low, high] = std::ranges::minmax(runs, {}, axis);
  const double fraction = (wanted - low.*axis) / (high.*axis - low.*axis);
  return at == high.*axis ? fraction : 1 - fraction;
}

template <typename Which>
double largest_difference(const Counts<Which>& one, const Counts<Which>& other) {
  double largest = 0;
  for (std::size_t i = 0; i < one.all().size(); ++i) {
    const double scale = std::max(one.all()[i], other.all()[i]);
    if (scale > 0) {
      largest = std::max(largest, std::abs(one.all()[i] - other.all()[i]) / scale);
    }
  }
  return largest;
}

/// The time of a run's parts at one end of a card.
class Priced {
 public:
  Priced(const AssumedEnd& end, const AskedWork& work, const Problem& problem, double steps)
      : end_(end), work_(work), updates_(static_cast<double>(problem.cells()) * steps) {
    for (const AskedKernel& kernel : work.kernels) {
      written_ += kernel.counts[AskedOfKernel::written_bytes];
    }
  }

  [[nodiscard]] double pageable_in() const {
    return end_.copies(asked(Asked::pageable_in_calls), asked(Asked::pageable_in_bytes),
                       end_.card().pageable_h2d);
  }
  [[nodiscard]] double pageable_out() const {
    return end_.copies(asked(Asked::pageable_out_calls), asked(Asked::pageable_out_bytes),
                       end_.card().pageable_d2h);
  }
  [[nodiscard]] double locked_in() const {
    return locked(Asked::locked_in_calls, Asked::locked_in_bytes, end_.card().pinned_h2d);
  }
  [[nodiscard]] double locked_out() const {
    return locked(Asked::locked_out_calls, Asked::locked_out_bytes, end_.card().pinned_d2h);
  }
  /// Pages are fetched at the link's rate at best, at that of ordinary memory at worst.
  [[nodiscard]] double managed() const {
    const AssumedCard& card = end_.card();
    return asked(Asked::managed_in_bytes) /
               end_.rate({card.pageable_h2d.low, card.pinned_h2d.high}) +
           asked(Asked::managed_out_bytes) /
               end_.rate({card.pageable_d2h.low, card.pinned_d2h.high});
  }
  [[nodiscard]] double card_copies() const {
    const double calls = asked(Asked::card_copy_calls);
    const double bytes = 2 * asked(Asked::card_copy_bytes); // read and written
    return calls * end_.launch() + bytes / end_.bandwidth(calls > 0 ? bytes / calls : 0);
  }
  [[nodiscard]] double memsets() const {
    const double calls = asked(Asked::memset_calls);
    const double bytes = asked(Asked::memset_bytes);
    return calls * end_.launch() + bytes / end_.bandwidth(calls > 0 ? bytes / calls : 0);
  }
  [[nodiscard]] double locking() const {
    return asked(Asked::lock_calls) * end_.time(end_.card().pin_call) +
           asked(Asked::lock_bytes) * end_.time(end_.card().pin_byte);
  }
  /// cudaFree() waits, too. A kernel that is waited for by a copy is waited for once, at best.
  [[nodiscard]] double waits() const {
    const double waits = asked(Asked::waits) + asked(Asked::frees);
    const double waited = end_.fast() ? waits : std::max(waits, asked(Asked::drains));
    return waited * end_.time(end_.card().synchronize) + asked(Asked::drains) * end_.launch();
  }
  /// What a launch does, in seconds.
  [[nodiscard]] double body(const AskedKernel& kernel) const {
    const double memory = card_memory(kernel), mapped = host_memory(kernel);
    return std::max(end_.fast() ? std::max(memory, mapped) : memory + mapped, arithmetic(kernel));
  }
  [[nodiscard]] double kernel(const AskedKernel& kernel) const {
    const double from_graphs = kernel.counts[AskedOfKernel::graph_launches];
    const double in_graph = end_.graph_launch() + body(kernel);
    return (kernel.counts[AskedOfKernel::launches] - from_graphs) *
               std::max(end_.launch(), in_graph) +
           from_graphs * in_graph;
  }
  /// What the card waits for while a kernel runs.
  [[nodiscard]] PartKind bound(const AskedKernel& kernel) const {
    return body(kernel) < end_.graph_launch() ? PartKind::launches
           : host_memory(kernel) > std::max(card_memory(kernel), arithmetic(kernel))
               ? PartKind::mapped
               : PartKind::kernels;
  }
  /// What may pass beside kernels.
  [[nodiscard]] double hidden() const {
    double kernels = 0;
    for (const AskedKernel& each : work_.kernels) {
      kernels += kernel(each);
    }
    return end_.fast() ? std::min(kernels, locked(Asked::async_calls, Asked::async_bytes,
                                                  end_.card().pinned_h2d))
                       : 0;
  }

  /// Of Thrust's algorithms the emulation knows what they do, not how.
  [[nodiscard]] static double excess(const AskedKernel& kernel) {
    const double asked = kernel.counts[AskedOfKernel::asked_bytes];
    const bool counts = asked > 0 && !kernel.name.starts_with("thrust::");
    return counts ? std::max(1.0, kernel.counts[AskedOfKernel::moved_bytes] / asked) : 1;
  }

 private:
  // Seconds of a launch:
  [[nodiscard]] static double each(const AskedKernel& kernel, AskedOfKernel what) {
    const double launches = kernel.counts[AskedOfKernel::launches];
    return launches > 0 ? kernel.counts[what] / launches : 0;
  }
  [[nodiscard]] double card_memory(const AskedKernel& kernel) const {
    const double distinct = each(kernel, AskedOfKernel::distinct_bytes);
    return distinct * (end_.fast() ? 1 : excess(kernel)) / end_.bandwidth(distinct);
  }
  [[nodiscard]] double host_memory(const AskedKernel& kernel) const {
    const auto through_link = [&](AskedOfKernel in, AskedOfKernel out) {
      return std::pair(each(kernel, in) / end_.rate(end_.card().pinned_h2d),
                       each(kernel, out) / end_.rate(end_.card().pinned_d2h));
    };
    if (end_.fast()) {
      const auto [in, out] =
          through_link(AskedOfKernel::mapped_in_bytes, AskedOfKernel::mapped_out_bytes);
      return std::max(in, out);
    }
    const auto [in, out] =
        through_link(AskedOfKernel::mapped_in_moved, AskedOfKernel::mapped_out_moved);
    return in + out;
  }
  [[nodiscard]] double arithmetic(const AskedKernel& kernel) const {
    const double share = written_ > 0 ? each(kernel, AskedOfKernel::written_bytes) / written_ : 0;
    return end_.instructions(updates_ * share);
  }

  [[nodiscard]] double asked(Asked which) const { return work_.counts[which]; }
  [[nodiscard]] double locked(Asked calls, Asked bytes, const Assumption& rate) const {
    return end_.copies(asked(calls), asked(bytes), rate);
  }

  const AssumedEnd& end_;
  const AskedWork& work_;
  double updates_;
  double written_ = 0; ///< bytes, by all kernels
};

/// A part in calls and bytes, and how it is priced.
struct PartRule {
  PartKind kind;
  const char* what;
  std::vector<Asked> calls, bytes;
  double (Priced::*seconds)() const;
};

const std::vector<PartRule>& part_rules() {
  static const std::vector<PartRule> rules = {
      {PartKind::copies,
       "copies up, pageable",
       {Asked::pageable_in_calls},
       {Asked::pageable_in_bytes},
       &Priced::pageable_in},
      {PartKind::copies,
       "copies down, pageable",
       {Asked::pageable_out_calls},
       {Asked::pageable_out_bytes},
       &Priced::pageable_out},
      {PartKind::copies,
       "copies up, page-locked",
       {Asked::locked_in_calls},
       {Asked::locked_in_bytes},
       &Priced::locked_in},
      {PartKind::copies,
       "copies down, page-locked",
       {Asked::locked_out_calls},
       {Asked::locked_out_bytes},
       &Priced::locked_out},
      {PartKind::managed,
       "managed memory, moved",
       {},
       {Asked::managed_in_bytes, Asked::managed_out_bytes},
       &Priced::managed},
      {PartKind::on_card,
       "copies on the card",
       {Asked::card_copy_calls},
       {Asked::card_copy_bytes},
       &Priced::card_copies},
      {PartKind::on_card,
       "memsets",
       {Asked::memset_calls},
       {Asked::memset_bytes},
       &Priced::memsets},
      {PartKind::waits, "waits", {Asked::waits, Asked::frees}, {}, &Priced::waits},
      {PartKind::locking,
       "page-locking",
       {Asked::lock_calls},
       {Asked::lock_bytes},
       &Priced::locking},
  };
  return rules;
}

double sum_of(const AskedWork& work, const std::vector<Asked>& which) {
  double sum = 0;
  for (const Asked each : which) {
    sum += work.counts[each];
  }
  return sum;
}

/// `larger`: what a step would copy of a larger field.
AskedWork without_copies_of_steps(AskedWork run, AskedWork step, const AskedWork& larger,
                                  double steps) {
  constexpr std::pair<Asked, Asked> copies[] = {
      {Asked::pageable_in_calls, Asked::pageable_in_bytes},
      {Asked::pageable_out_calls, Asked::pageable_out_bytes},
      {Asked::locked_in_calls, Asked::locked_in_bytes},
      {Asked::locked_out_calls, Asked::locked_out_bytes},
      {Asked::async_calls, Asked::async_bytes},
      {Asked::managed_in_bytes, Asked::managed_in_bytes},
      {Asked::managed_out_bytes, Asked::managed_out_bytes}};
  for (const auto& [calls, bytes] : copies) {
    // Parameters and residuals are as large in a larger field, and stay.
    if (std::abs(larger.counts[bytes] - step.counts[bytes]) < 0.5) {
      step.counts[calls] = step.counts[bytes] = 0;
    }
    for (const Asked copied : {calls, bytes}) {
      run.counts[copied] -= std::min(run.counts[copied], steps * step.counts[copied]);
      if (calls == bytes) {
        break;
      }
    }
  }
  // What kernels reach for on the host is on the card.
  for (AskedKernel& kernel : run.kernels) {
    const Counts<AskedOfKernel> of_step = step.kernel(kernel.name);
    for (const auto& [bytes, moved] :
         {std::pair(AskedOfKernel::mapped_in_bytes, AskedOfKernel::mapped_in_moved),
          std::pair(AskedOfKernel::mapped_out_bytes, AskedOfKernel::mapped_out_moved)}) {
      const double reached = std::min(kernel.counts[bytes], steps * of_step[bytes]);
      kernel.counts[bytes] -= reached;
      kernel.counts[moved] -= std::min(kernel.counts[moved], steps * of_step[moved]);
      kernel.counts[AskedOfKernel::distinct_bytes] += reached;
    }
  }
  // Nobody need wait for a step then.
  if (step.counts[Asked::pageable_out_calls] + step.counts[Asked::locked_out_calls] +
          step.counts[Asked::managed_out_bytes] >
      0) {
    for (const Asked waited : {Asked::waits, Asked::drains}) {
      run.counts[waited] -= std::min(run.counts[waited], steps * step.counts[waited]);
    }
  }
  return run;
}

/// Of nearly equal counts: what rounding leaves is nothing.
AskedWork difference(AskedWork of, const AskedWork& less) {
  const auto clean = [](auto& counts, const auto& before) {
    for (std::size_t i = 0; i < counts.all().size(); ++i) {
      const double noise = 1e-6 + 1e-9 * before.all()[i];
      counts.all()[i] = counts.all()[i] < noise ? 0 : counts.all()[i];
    }
  };
  add_scaled(of, less, -1);
  clean(of.counts, less.counts);
  for (AskedKernel& kernel : of.kernels) {
    clean(kernel.counts, less.kernel(kernel.name));
  }
  return of;
}

double mapped_bytes(const Counts<AskedOfKernel>& kernel) {
  return kernel[AskedOfKernel::mapped_in_bytes] + kernel[AskedOfKernel::mapped_out_bytes];
}

double total(const Priced& priced, const AskedWork& work) {
  double seconds = -priced.hidden();
  for (const PartRule& rule : part_rules()) {
    seconds += (priced.*rule.seconds)();
  }
  for (const AskedKernel& kernel : work.kernels) {
    seconds += priced.kernel(kernel);
  }
  return seconds;
}

} // namespace

Counts<AskedOfKernel> AskedWork::kernel(const std::string& name) const {
  const auto found = std::ranges::find(kernels, name, &AskedKernel::name);
  return found == kernels.end() ? Counts<AskedOfKernel>() : found->counts;
}

AskedWork asked_at(std::span<const CountedRun> corners, double nx, double ny, double steps) {
  AskedWork work;
  for (const CountedRun& corner : corners) {
    add_scaled(work, corner.work,
               weight_of(corners, &CountedRun::nx, corner.nx, nx) *
                   weight_of(corners, &CountedRun::ny, corner.ny, ny) *
                   weight_of(corners, &CountedRun::steps, corner.steps, steps));
  }
  const auto not_below_zero = [](auto& counts) {
    for (double& count : counts.all()) {
      count = std::max(0.0, count);
    }
  };
  not_below_zero(work.counts);
  for (AskedKernel& kernel : work.kernels) {
    not_below_zero(kernel.counts);
  }
  return work;
}

double unevenness(std::span<const CountedRun> corners, const CountedRun& run) {
  const AskedWork foretold = asked_at(corners, run.nx, run.ny, run.steps);
  double largest = largest_difference(foretold.counts, run.work.counts);
  for (const auto* kernels : {&foretold.kernels, &run.work.kernels}) { // some may be in one alone
    for (const AskedKernel& kernel : *kernels) {
      largest = std::max(
          largest, largest_difference(foretold.kernel(kernel.name), run.work.kernel(kernel.name)));
    }
  }
  return largest;
}

AskedCost cost_of(std::span<const CountedRun> corners, const Problem& problem, std::int64_t steps,
                  const AssumedCard& card) {
  const auto count = static_cast<double>(steps);
  const auto at = [&](double of_steps) {
    return asked_at(corners, static_cast<double>(problem.nx), static_cast<double>(problem.ny),
                    of_steps);
  };
  const AskedWork run = at(count);
  const AskedWork step = difference(at(count + 1), run);
  const auto twice = [&](double of_steps) {
    return asked_at(corners, 2.0 * static_cast<double>(problem.nx),
                    2.0 * static_cast<double>(problem.ny), of_steps);
  };
  const AskedWork resident =
      without_copies_of_steps(run, step, difference(twice(count + 1), twice(count)), count);

  const AssumedEnd fast_end(card, problem.dtype, Bound::fast);
  const AssumedEnd slow_end(card, problem.dtype, Bound::slow);
  const auto span_of = [&](const AskedWork& work, double of_steps, auto seconds) {
    return span_between(seconds(Priced(fast_end, work, problem, of_steps)),
                        seconds(Priced(slow_end, work, problem, of_steps)));
  };
  AskedCost cost;
  for (const PartRule& rule : part_rules()) {
    const Assumption seconds =
        span_of(run, count, [&](const Priced& priced) { return (priced.*rule.seconds)(); });
    if (seconds.high > 0) {
      cost.parts.push_back({.kind = rule.kind,
                            .what = rule.what,
                            .calls_per_step = sum_of(step, rule.calls),
                            .bytes_per_step = sum_of(step, rule.bytes),
                            .calls = sum_of(run, rule.calls),
                            .bytes = sum_of(run, rule.bytes),
                            .seconds = seconds});
    }
  }
  double longest = 0;
  for (const AskedKernel& kernel : run.kernels) {
    const Counts<AskedOfKernel> of_step = step.kernel(kernel.name);
    const Assumption seconds =
        span_of(run, count, [&](const Priced& priced) { return priced.kernel(kernel); });
    const PartKind bound = Priced(fast_end, run, problem, count).bound(kernel);
    const bool at_both_ends = Priced(slow_end, run, problem, count).bound(kernel) == bound;
    const double mapped = mapped_bytes(kernel.counts);
    cost.parts.push_back(
        {.kind = at_both_ends ? bound : PartKind::kernels,
         .what = "kernel " + kernel.name + (mapped > 0 ? ", host's memory" : ""),
         .calls_per_step = of_step[AskedOfKernel::launches],
         .bytes_per_step = of_step[AskedOfKernel::distinct_bytes] + mapped_bytes(of_step),
         .calls = kernel.counts[AskedOfKernel::launches],
         .bytes = kernel.counts[AskedOfKernel::distinct_bytes] + mapped,
         .seconds = seconds});
    if (seconds.high > longest) {
      longest = seconds.high;
      cost.excess = Priced::excess(kernel);
      cost.from_graphs =
          2 * kernel.counts[AskedOfKernel::graph_launches] > kernel.counts[AskedOfKernel::launches];
    }
  }
  const auto seconds_of = [&](const AskedWork& work, double of_steps) {
    return span_of(work, of_steps, [&](const Priced& priced) { return total(priced, work); });
  };
  cost.seconds = seconds_of(run, count);
  cost.step_seconds = seconds_of(step, 1);
  cost.resident_seconds = seconds_of(resident, count);
  cost.copies_in = sum_of(run, {Asked::pageable_in_calls, Asked::locked_in_calls});
  cost.copies_out = sum_of(run, {Asked::pageable_out_calls, Asked::locked_out_calls});
  cost.allocations_per_step = step.counts[Asked::allocations];
  return cost;
}

} // namespace diffbench::bench
