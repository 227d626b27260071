// SPDX-License-Identifier: Apache-2.0
#include "bill.hpp"

#include <algorithm>
#include <utility>

namespace diffbench::bench {

namespace {

/// Of a stencil, which has 7 operations a cell and step.
constexpr double stencil_operations = 7, stencil_arithmetic = 6;
constexpr Assumption stencil_instructions{7.2, 25};

/// A card whose figures are all at one end of what is assumed: all goes well, or nothing does.
class CardEnd {
 public:
  CardEnd(const AssumedCard& card, bool fast) : card_(card), fast_(fast) {}

  [[nodiscard]] bool fast() const { return fast_; }
  [[nodiscard]] const AssumedCard& card() const { return card_; }
  [[nodiscard]] double time(const Assumption& span) const { return fast_ ? span.low : span.high; }
  [[nodiscard]] double rate(const Assumption& span) const { return fast_ ? span.high : span.low; }
  [[nodiscard]] double copies(double calls, double bytes, const Assumption& its_rate) const {
    return calls * time(card_.copy_call) + bytes / rate(its_rate);
  }
  /// Seconds for so many bytes of the card's memory: of L2 where they fit it.
  [[nodiscard]] double memory(double bytes) const {
    return bytes / rate(bytes <= rate(card_.l2) ? card_.l2_rate : card_.memory_rate);
  }

 private:
  const AssumedCard& card_;
  bool fast_;
};

double each(const CountedKernel& kernel, KernelCount what) {
  const double launches = kernel.counts[KernelCount::launches];
  return launches > 0 ? kernel.counts[what] / launches : 0;
}

/// Of Thrust's algorithms the emulation knows what they do, not how.
double excess_of(const CountedKernel& kernel) {
  const double asked = kernel.counts[KernelCount::asked_bytes];
  const bool counts = asked > 0 && !kernel.name.starts_with("thrust::");
  return counts ? std::max(1.0, kernel.counts[KernelCount::moved_bytes] / asked) : 1;
}

/// What a launch of a kernel does, in seconds, by what it waits for.
struct Body {
  double seconds = 0;
  PartKind bound{};
};

/// Seconds for which all launches of a kernel keep the host, and those for which they work longer.
struct KernelTime {
  double launches = 0, work = 0;
};

/// The bill at one end of a card.
class Priced {
 public:
  Priced(const CardEnd& end, const CardCounts& counts, const CellWork& work, double updates)
      : end_(end), card_(end.card()), counts_(counts), work_(work), updates_(updates) {
    for (const CountedKernel& kernel : counts.kernels) {
      written_ += kernel.counts[KernelCount::written_bytes];
    }
  }

  [[nodiscard]] double count(CardCount which) const { return counts_.counts[which]; }
  [[nodiscard]] double context() const {
    return count(CardCount::contexts) * end_.time(card_.context);
  }
  [[nodiscard]] double locking() const {
    return count(CardCount::lock_calls) * end_.time(card_.pin_call) +
           count(CardCount::lock_bytes) * end_.time(card_.pin_byte);
  }
  [[nodiscard]] double pageable_in() const {
    return copies(CardCount::pageable_in_calls, CardCount::pageable_in_bytes, card_.pageable_h2d);
  }
  [[nodiscard]] double pageable_out() const {
    return copies(CardCount::pageable_out_calls, CardCount::pageable_out_bytes, card_.pageable_d2h);
  }
  [[nodiscard]] double locked_in() const {
    return copies(CardCount::locked_in_calls, CardCount::locked_in_bytes, card_.pinned_h2d);
  }
  [[nodiscard]] double locked_out() const {
    return copies(CardCount::locked_out_calls, CardCount::locked_out_bytes, card_.pinned_d2h);
  }
  /// Pages are fetched at the link's rate at best, at that of ordinary memory at worst.
  [[nodiscard]] double managed() const {
    return count(CardCount::managed_in_bytes) /
               end_.rate({card_.pageable_h2d.low, card_.pinned_h2d.high}) +
           count(CardCount::managed_out_bytes) /
               end_.rate({card_.pageable_d2h.low, card_.pinned_d2h.high});
  }
  [[nodiscard]] double card_copies() const { // read and written
    return on_card(count(CardCount::card_copy_calls), 2 * count(CardCount::card_copy_bytes));
  }
  [[nodiscard]] double memsets() const {
    return on_card(count(CardCount::memset_calls), count(CardCount::memset_bytes));
  }
  /// And the first launch after the host has waited, which nothing hides.
  [[nodiscard]] double launches() const {
    double seconds = count(CardCount::drains) * end_.time(card_.launch);
    for (const CountedKernel& kernel : counts_.kernels) {
      seconds += time_of(kernel).launches;
    }
    return seconds;
  }
  /// cudaFree() waits, too. A kernel that is waited for by a copy is waited for once, at best.
  [[nodiscard]] double waits() const {
    const double waits = count(CardCount::waits) + count(CardCount::frees);
    return (end_.fast() ? waits : std::max(waits, count(CardCount::drains))) *
           end_.time(card_.synchronize);
  }

  [[nodiscard]] Body body(const CountedKernel& kernel) const {
    const double distinct = each(kernel, KernelCount::distinct_bytes);
    const double memory = end_.memory(distinct) * (end_.fast() ? 1 : excess_of(kernel));
    const double mapped = host_memory(kernel), instructions = arithmetic(kernel);
    const double bytes = end_.fast() ? std::max(memory, mapped) : memory + mapped;
    return {std::max(bytes, instructions), instructions > bytes ? PartKind::instructions
                                           : mapped > memory    ? PartKind::mapped
                                                                : PartKind::memory};
  }
  [[nodiscard]] KernelTime time_of(const CountedKernel& kernel) const {
    const double all = kernel.counts[KernelCount::launches];
    const double from_graphs = kernel.counts[KernelCount::graph_launches];
    const double launch = end_.time(card_.launch), in_graph = end_.time(card_.graph_launch);
    const double seconds = body(kernel).seconds;
    const bool hidden = launch > in_graph + seconds; // by the launch of the next one
    return {.launches = (all - from_graphs) * (hidden ? launch : in_graph) + from_graphs * in_graph,
            .work = (all - (hidden ? all - from_graphs : 0)) * seconds};
  }
  /// Copies that pass beside kernels.
  [[nodiscard]] double hidden() const {
    if (!end_.fast() && !counts_.overlaps) {
      return 0;
    }
    double kernels = 0;
    for (const CountedKernel& kernel : counts_.kernels) {
      kernels += time_of(kernel).launches + time_of(kernel).work;
    }
    return std::min(
        kernels,
        copies(CardCount::async_in_calls, CardCount::async_in_bytes, card_.pinned_h2d) +
            copies(CardCount::async_out_calls, CardCount::async_out_bytes, card_.pinned_d2h));
  }

 private:
  [[nodiscard]] double copies(CardCount calls, CardCount bytes, const Assumption& rate) const {
    return end_.copies(count(calls), count(bytes), rate);
  }
  [[nodiscard]] double on_card(double calls, double bytes) const {
    return calls > 0 ? calls * (end_.time(card_.launch) + end_.memory(bytes / calls)) : 0;
  }
  [[nodiscard]] double host_memory(const CountedKernel& kernel) const {
    const bool once = end_.fast();
    const double in =
        each(kernel, once ? KernelCount::mapped_in_bytes : KernelCount::mapped_in_moved) /
        end_.rate(card_.pinned_h2d);
    const double out =
        each(kernel, once ? KernelCount::mapped_out_bytes : KernelCount::mapped_out_moved) /
        end_.rate(card_.pinned_d2h);
    return once ? std::max(in, out) : in + out;
  }
  /// An fma counts as two operations, and takes one instruction.
  [[nodiscard]] double arithmetic(const CountedKernel& kernel) const {
    const double share = written_ > 0 ? each(kernel, KernelCount::written_bytes) / written_ : 0;
    const double cells = updates_ * share;
    const Assumption& own = work_.dtype == Dtype::float32 ? card_.float32_rate : card_.float64_rate;
    const double in_dtype = stencil_arithmetic * work_.operations / stencil_operations;
    return std::max(end_.time(instructions_of(work_)) * cells / (end_.rate(card_.float32_rate) / 2),
                    in_dtype * cells / (end_.rate(own) / 2));
  }

  const CardEnd& end_;
  const AssumedCard& card_;
  const CardCounts& counts_;
  const CellWork& work_;
  double updates_;
  double written_ = 0; ///< bytes, by all kernels
};

/// A part in calls and bytes, each of one or two counts, and how it is priced.
using Count = CardCount;
constexpr Count none = Count::end;
struct PartRule {
  PartKind kind;
  const char* what;
  double (Priced::*seconds)() const;
  Count calls = none, bytes = none, more_calls = none, more_bytes = none;
};
constexpr PartRule part_rules[] = {
    {PartKind::context, "context", &Priced::context, Count::contexts},
    {PartKind::locking, "page-locking", &Priced::locking, Count::lock_calls, Count::lock_bytes},
    {PartKind::copies_up, "copies up, pageable", &Priced::pageable_in, Count::pageable_in_calls,
     Count::pageable_in_bytes},
    {PartKind::copies_up, "copies up, page-locked", &Priced::locked_in, Count::locked_in_calls,
     Count::locked_in_bytes},
    {PartKind::copies_down, "copies down, pageable", &Priced::pageable_out,
     Count::pageable_out_calls, Count::pageable_out_bytes},
    {PartKind::copies_down, "copies down, page-locked", &Priced::locked_out,
     Count::locked_out_calls, Count::locked_out_bytes},
    {PartKind::managed, "managed memory, moved", &Priced::managed, none, Count::managed_in_bytes,
     none, Count::managed_out_bytes},
    {PartKind::on_card, "copies on the card", &Priced::card_copies, Count::card_copy_calls,
     Count::card_copy_bytes},
    {PartKind::on_card, "memsets", &Priced::memsets, Count::memset_calls, Count::memset_bytes},
    {PartKind::launches, "launches", &Priced::launches},
    {PartKind::waits, "waits", &Priced::waits, Count::waits, none, Count::frees},
};

double sum_of(const CardCounts& counts, Count one, Count other) {
  return (one == none ? 0 : counts.counts[one]) + (other == none ? 0 : counts.counts[other]);
}

double launches_in(const CardCounts& counts) {
  double launches = 0;
  for (const CountedKernel& kernel : counts.kernels) {
    launches += kernel.counts[KernelCount::launches];
  }
  return launches;
}

/// Of a whole bill at one end.
struct Total {
  double all = 0, set_up = 0, steps = 0;
};

Total total_of(const Priced& priced, const CardCounts& counts) {
  Total total{.all = -priced.hidden(), .set_up = priced.context() + priced.locking()};
  for (const PartRule& rule : part_rules) {
    total.all += (priced.*rule.seconds)();
  }
  total.steps = priced.launches() + priced.waits();
  for (const CountedKernel& kernel : counts.kernels) {
    total.all += priced.time_of(kernel).work;
    total.steps += priced.time_of(kernel).work;
  }
  return total;
}

double mapped_bytes(const CountedKernel& kernel) {
  return kernel.counts[KernelCount::mapped_in_bytes] + kernel.counts[KernelCount::mapped_out_bytes];
}

} // namespace

BillPart Bill::of(PartKind kind) const {
  BillPart sum{.kind = kind, .what = {}, .seconds = {}};
  for (const BillPart& part : parts) {
    if (part.kind == kind) {
      sum.calls += part.calls;
      sum.bytes += part.bytes;
      sum.seconds = {sum.seconds.low + part.seconds.low, sum.seconds.high + part.seconds.high};
    }
  }
  return sum;
}

Assumption instructions_of(const CellWork& work) {
  const double times = work.operations / stencil_operations;
  return {stencil_instructions.low * times, stencil_instructions.high * times};
}

Bill bill_of(const AssumedCard& card, const CardCounts& counts, const CellWork& work,
             double updates) {
  const CardEnd fast_end(card, true), slow_end(card, false);
  const Priced fast(fast_end, counts, work, updates), slow(slow_end, counts, work, updates);
  Bill bill;
  const auto add = [&](BillPart part) {
    if (part.seconds.high > 0) {
      bill.parts.push_back(std::move(part));
    }
  };
  double longest = 0;
  for (const PartRule& rule : part_rules) {
    const bool launches = rule.kind == PartKind::launches;
    add({.kind = rule.kind,
         .what = rule.what,
         .calls = launches ? launches_in(counts) : sum_of(counts, rule.calls, rule.more_calls),
         .bytes = sum_of(counts, rule.bytes, rule.more_bytes),
         .seconds = span_between((fast.*rule.seconds)(), (slow.*rule.seconds)())});
    if (!launches) {
      continue;
    }
    for (const CountedKernel& kernel : counts.kernels) {
      const PartKind bound = fast.body(kernel).bound;
      const double mapped = mapped_bytes(kernel);
      const KernelTime at_best = fast.time_of(kernel), at_worst = slow.time_of(kernel);
      add({.kind = slow.body(kernel).bound == bound ? bound : PartKind::kernels,
           .what = "kernel " + kernel.name + (mapped > 0 ? ", host's memory" : ""),
           .calls = kernel.counts[KernelCount::launches],
           .bytes = kernel.counts[KernelCount::distinct_bytes] + mapped,
           .seconds = span_between(at_best.work, at_worst.work)});
      if (at_worst.launches + at_worst.work > longest) {
        longest = at_worst.launches + at_worst.work;
        bill.excess = excess_of(kernel);
        bill.from_graphs =
            2 * kernel.counts[KernelCount::graph_launches] > kernel.counts[KernelCount::launches];
      }
    }
  }
  const Total best = total_of(fast, counts), worst = total_of(slow, counts);
  bill.seconds = span_between(best.all, worst.all);
  bill.warm = span_between(best.all - best.set_up, worst.all - worst.set_up);
  bill.steps = span_between(best.steps, worst.steps);
  return bill;
}

} // namespace diffbench::bench
