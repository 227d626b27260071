// SPDX-License-Identifier: Apache-2.0
#include "asked_of_card.hpp"

#include "assumed_end.hpp"
#include "assumed_report.hpp"
#include "columns.hpp"
#include "device_findings.hpp"
#include "judgement.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

/// Multiples of the usual blocks, and of what a launch may do of steps.
constexpr std::array<std::int64_t, 2> counted_sides = {32, 64};
constexpr std::array<std::int64_t, 2> counted_steps = {4, 12};
struct Tried {
  std::int64_t nx, ny, steps;
};
/// Beyond the former: is what they ask for as those foretell?
constexpr std::array<Tried, 2> foretold_runs = {{{96, 80, 4}, {32, 32, 28}}};
/// What is farther off than this is said.
constexpr double even_enough = 0.05;

/// Where a count is in the emulation's JSON.
struct Source {
  Asked which;
  const char* path;
};
constexpr Source sources[] = {
    {Asked::pageable_in_calls, "copies.to_device.pageable.calls"},
    {Asked::pageable_in_bytes, "copies.to_device.pageable.bytes"},
    {Asked::pageable_out_calls, "copies.to_host.pageable.calls"},
    {Asked::pageable_out_bytes, "copies.to_host.pageable.bytes"},
    {Asked::locked_in_calls, "copies.to_device.pinned.calls"},
    {Asked::locked_in_bytes, "copies.to_device.pinned.bytes"},
    {Asked::locked_in_calls, "copies.to_device.registered.calls"},
    {Asked::locked_in_bytes, "copies.to_device.registered.bytes"},
    {Asked::locked_out_calls, "copies.to_host.pinned.calls"},
    {Asked::locked_out_bytes, "copies.to_host.pinned.bytes"},
    {Asked::locked_out_calls, "copies.to_host.registered.calls"},
    {Asked::locked_out_bytes, "copies.to_host.registered.bytes"},
    {Asked::card_copy_calls, "copies.on_device.pageable.calls"},
    {Asked::card_copy_bytes, "copies.on_device.pageable.bytes"},
    {Asked::async_calls, "async_copies.calls"},
    {Asked::async_bytes, "async_copies.bytes"},
    {Asked::memset_calls, "memsets.calls"},
    {Asked::memset_bytes, "memsets.bytes"},
    {Asked::managed_in_bytes, "migrated.to_device"},
    {Asked::managed_out_bytes, "migrated.to_host"},
    {Asked::waits, "waits"},
    {Asked::drains, "drains"},
    {Asked::frees, "frees"},
    {Asked::allocations, "allocations.device.calls"},
    {Asked::allocations, "allocations.managed.calls"},
    {Asked::lock_calls, "allocations.pinned.calls"},
    {Asked::lock_bytes, "allocations.pinned.bytes"},
    {Asked::lock_calls, "allocations.registered.calls"},
    {Asked::lock_bytes, "allocations.registered.bytes"},
};
struct KernelSource {
  AskedOfKernel which;
  const char* key;
};
constexpr KernelSource kernel_sources[] = {
    {AskedOfKernel::launches, "launches"},
    {AskedOfKernel::graph_launches, "graph_launches"},
    {AskedOfKernel::asked_bytes, "bytes_read"},
    {AskedOfKernel::asked_bytes, "bytes_written"},
    {AskedOfKernel::distinct_bytes, "distinct_read"},
    {AskedOfKernel::distinct_bytes, "distinct_written"},
    {AskedOfKernel::moved_bytes, "moved_read"},
    {AskedOfKernel::moved_bytes, "moved_written"},
    {AskedOfKernel::mapped_in_bytes, "mapped.distinct_read"},
    {AskedOfKernel::mapped_out_bytes, "mapped.distinct_written"},
    {AskedOfKernel::mapped_in_moved, "mapped.moved_read"},
    {AskedOfKernel::mapped_out_moved, "mapped.moved_written"},
    {AskedOfKernel::written_bytes, "distinct_written"},
    {AskedOfKernel::written_bytes, "mapped.distinct_written"},
};

AskedWork work_of(const Value& counts) {
  AskedWork work;
  for (const Source& source : sources) {
    work.counts[source.which] += counts.find(source.path).number();
  }
  const Value& kernels = counts.find("kernels");
  if (const auto* list = std::get_if<std::unique_ptr<Value::List>>(&kernels.data())) {
    for (const Value& each : **list) {
      AskedKernel kernel{.name = each.find("name").plain_text(), .counts = {}};
      for (const KernelSource& source : kernel_sources) {
        kernel.counts[source.which] += each.find(source.key).number();
      }
      work.kernels.push_back(std::move(kernel));
    }
  }
  return work;
}

/// In a process of its own: the code may keep memory of the device from one call to the next.
template <typename T>
CountedRun count_run(const Submission& submission, const TryLimits& limits,
                     const std::filesystem::path& work_dir, const Tried& tried) {
  Problem problem;
  problem.nx = tried.nx;
  problem.ny = tried.ny;
  problem.dtype = dtype_of<T>;
  problem.dt = 0.1;
  TriedProcess process(submission.compiled, limits, problem.field_bytes(), work_dir);
  process.count_traffic();
  process.choose_schedule(1);
  Field<T> field(problem.nx, problem.ny);
  fill_secret(field, 1);
  process.open(problem, Form::session);
  (void)process.run(field, tried.steps);
  process.close();
  return {.nx = static_cast<double>(tried.nx),
          .ny = static_cast<double>(tried.ny),
          .steps = static_cast<double>(tried.steps),
          .work = work_of(device_counts(process.counts()))};
}

template <typename T>
void count_and_price(const Submission& submission, const TryLimits& limits,
                     const std::filesystem::path& work_dir,
                     const std::function<void(double)>& on_progress, AskedOfCard& asked) {
  std::vector<Tried> all;
  for (const std::int64_t nx : counted_sides) {
    for (const std::int64_t ny : counted_sides) {
      for (const std::int64_t steps : counted_steps) {
        all.push_back({nx, ny, steps});
      }
    }
  }
  const std::size_t corners = all.size();
  all.insert(all.end(), foretold_runs.begin(), foretold_runs.end());
  std::vector<CountedRun> runs;
  for (const Tried& tried : all) {
    runs.push_back(count_run<T>(submission, limits, work_dir, tried));
    on_progress(static_cast<double>(runs.size()) / static_cast<double>(all.size()));
  }
  const std::span<const CountedRun> counted = std::span(runs).first(corners);
  for (const CountedRun& run : std::span(runs).subspan(corners)) {
    asked.unevenness = std::max(asked.unevenness, unevenness(counted, run));
  }
  asked.cost = cost_of(counted, asked.problem, asked.steps, asked.card);
}

// What is said of it

struct ShownPart {
  const AskedOfCard* asked;
  const AskedPart* part;
};

Assumption share_of(const Assumption& part, const Assumption& whole) {
  const double fast = whole.low > 0 ? std::min(1.0, part.low / whole.low) : 0;
  const double slow = whole.high > 0 ? std::min(1.0, part.high / whole.high) : 0;
  return span_between(fast, slow);
}

std::string as_percent_span(const Value& span) {
  const auto percent = [&](const char* end) {
    return fmt::format("{:.0f} %", 100 * span.find(end).number());
  };
  return join_ends(percent("low"), percent("high"));
}

/// A count that is whole but for what its extrapolation rounds.
Value whole(double count) { return std::round(count * 1000) / 1000; }

std::string as_count(const Value& count) { return fmt::format("{:g}", count.number()); }

constexpr Column<ShownPart> part_columns[] = {
    {"part", "on an assumed GPU", as_text, field<&ShownPart::part, &AskedPart::what>,
     [](const ShownPart& shown) { return assumed_name(shown.part->what, shown.asked->card); }},
    {"assumed", nullptr, as_text, field<&ShownPart::asked, &AskedOfCard::card, &AssumedCard::id>},
    {"calls_per_step", "calls a step", as_count,
     [](const ShownPart& shown) { return whole(shown.part->calls_per_step); }},
    {"bytes_per_step", "bytes a step", as_bytes,
     [](const ShownPart& shown) { return Value(std::round(shown.part->bytes_per_step)); }},
    {"calls", "calls in all", as_count,
     [](const ShownPart& shown) { return whole(shown.part->calls); }},
    {"bytes", nullptr, as_text,
     [](const ShownPart& shown) { return Value(std::round(shown.part->bytes)); }},
    {"seconds", "time in all", as_seconds_span,
     field<&ShownPart::part, &AskedPart::seconds, span_json>},
    {"share", "of the time", as_percent_span,
     [](const ShownPart& shown) {
       return span_json(share_of(shown.part->seconds, shown.asked->cost.seconds));
     }},
};

/// What is to be changed first where such a part rules.
struct Rule {
  PartKind kind;
  const char* ruler;
  bool counted; ///< it has a number
  const char* advice;
};
constexpr Rule rules[] = {
    {PartKind::copies, "copies up and down", true,
     "more steps between the two copies; page-lock the host's arrays where they are used again"},
    {PartKind::managed, "Moves of managed memory", false,
     "touch the arrays on the host before the first step and after the last one only"},
    {PartKind::mapped, "What kernels read and write of the host's memory", false,
     "copy the field to the card before the first step: what is page-locked is fetched from the "
     "host each time"},
    {PartKind::on_card, "copies and memsets on the card", true,
     "exchange the pointers instead of copying, and write every cell in the kernel"},
    {PartKind::launches, "launches", true,
     "several steps a launch, or a graph: the kernel is done before the next one comes"},
    {PartKind::kernels, "What the kernels do", false, "several steps a launch read and write less"},
    {PartKind::waits, "waits", true,
     "wait once, after the last step; algorithms of Thrust wait each, but with "
     "thrust::cuda::par_nosync"},
    {PartKind::locking, "Page-locking", false,
     "page-lock once for many runs, or not at all where a run copies only twice"},
};

struct Ruling {
  const Rule* rule = nullptr;
  Assumption seconds;
  double calls = 0;
};

Ruling ruling_part(const AskedCost& cost) {
  Ruling ruling;
  double longest = 0;
  for (const Rule& rule : rules) {
    Ruling own{.rule = &rule, .seconds = {}, .calls = 0};
    for (const AskedPart& part : cost.parts) {
      if (part.kind == rule.kind) {
        own.seconds.low += part.seconds.low;
        own.seconds.high += part.seconds.high;
        own.calls += part.calls;
      }
    }
    const Assumption share = share_of(own.seconds, cost.seconds);
    if (share.low + share.high > longest) {
      longest = share.low + share.high;
      ruling = own;
    }
  }
  return ruling;
}

/// Whether fewer copies would make it faster at both ends.
std::optional<Assumption> pace_of_resident(const AskedCost& cost) {
  const double fast = cost.seconds.low / cost.resident_seconds.low;
  const double slow = cost.seconds.high / cost.resident_seconds.high;
  const Assumption pace{std::min(fast, slow), std::max(fast, slow)};
  return pace.low > 1.01 ? std::optional(pace) : std::nullopt;
}

std::string advice_of(const AskedCost& cost, const Ruling& ruling, bool copies_in_steps) {
  if (cost.allocations_per_step > 0.001) {
    return "allocate before the first step: it allocates in each, and no figure of a card tells "
           "what that takes";
  }
  constexpr PartKind of_copies[] = {PartKind::copies, PartKind::mapped, PartKind::waits};
  if (copies_in_steps && std::ranges::find(of_copies, ruling.rule->kind) != std::end(of_copies)) {
    return "leave the field on the card: one copy before the first step, one after the last one";
  }
  if (ruling.rule->kind == PartKind::kernels && cost.excess >= 2) {
    return fmt::format(
        "let neighbouring threads take neighbouring cells: its warps move {:.1f} times the bytes "
        "that its threads ask for",
        cost.excess);
  }
  if (ruling.rule->kind == PartKind::launches && cost.from_graphs) {
    return "several steps a launch: a step takes less than its launch, even from a graph";
  }
  return ruling.rule->advice;
}

/// "1000 launches", "1000 copies up and down", "1000 copies up and 640000 down".
std::string ruler_text(const AskedCost& cost, const Ruling& ruling) {
  const double up = std::round(cost.copies_in), down = std::round(cost.copies_out);
  if (ruling.rule->kind == PartKind::copies && up != down) {
    return fmt::format("{:.0f} copies up and {:.0f} down", up, down);
  }
  if (!ruling.rule->counted) {
    return ruling.rule->ruler;
  }
  const double calls = ruling.rule->kind == PartKind::copies ? up : ruling.calls;
  return fmt::format("{:.0f} {}", std::max(1.0, calls), ruling.rule->ruler);
}

std::string sentence_of(const AskedOfCard& asked) {
  const AskedCost& cost = asked.cost;
  const Ruling ruling = ruling_part(cost);
  if (ruling.rule == nullptr) {
    return fmt::format("Assumed, not measured ({}): it asks the card for nothing.", asked.card.id);
  }
  const auto resident = pace_of_resident(cost);
  std::string text = fmt::format(
      "Assumed, not measured ({}): {} would take {}. {}: {} of the time", asked.card.id,
      counted(asked.steps, "step"), as_seconds_span(span_json(cost.seconds)),
      ruler_text(cost, ruling), as_percent_span(span_json(share_of(ruling.seconds, cost.seconds))));
  if (resident) {
    text += fmt::format("; with the field left on the card {}", pace_text(*resident));
  }
  return text + fmt::format(". First: {}.", advice_of(cost, ruling, resident.has_value()));
}

std::string notes_of(const AskedCost& cost) {
  const bool managed = std::ranges::any_of(
      cost.parts, [](const AskedPart& part) { return part.kind == PartKind::managed; });
  const Assumption instructions = stencil_work(Dtype::float32).instructions;
  return fmt::format(
      "of --assume: a kernel's instructions are those of a stencil, {:g} to {:g} a cell and step; "
      "its own are not counted, and allocations have no price{}",
      instructions.low, instructions.high,
      managed ? ", nor have the page faults of managed memory" : "");
}

} // namespace

AskedOfCard ask_for_card(const Submission& submission, const Problem& problem, std::int64_t steps,
                         const AssumedCard& card, const TryLimits& limits,
                         const std::filesystem::path& work_dir,
                         const std::function<void(double)>& on_progress) {
  AskedOfCard asked{.card = card, .problem = problem, .steps = steps, .cost = {}, .failure = {}};
  try {
    if (problem.dtype == Dtype::float32) {
      count_and_price<float>(submission, limits, work_dir, on_progress, asked);
    } else {
      count_and_price<double>(submission, limits, work_dir, on_progress, asked);
    }
  } catch (const SubmissionFailed& failure) {
    asked.failure = failure.what();
  }
  return asked;
}

void append_asked(LabReport& report, const AskedOfCard& asked) {
  if (!asked.failure.empty()) {
    report.notes.push_back(
        fmt::format("what it would cost on {} is not known: {}", asked.card.id, asked.failure));
    return;
  }
  std::vector<ShownPart> parts;
  for (const AskedPart& part : asked.cost.parts) {
    parts.push_back({&asked, &part});
  }
  const std::string sentence = sentence_of(asked);
  append_table(report,
               fmt::format("{}{} x {} cells, {}, {}\n{}", assumed_title(asked.card),
                           asked.problem.nx, asked.problem.ny, to_string(asked.problem.dtype),
                           counted(asked.steps, "step"), format_rows(part_columns, parts)));
  report.sentence += (report.sentence.empty() ? "" : "\n") + sentence;
  report.notes.push_back(notes_of(asked.cost));
  if (asked.unevenness > even_enough) {
    report.notes.push_back(fmt::format(
        "what it asks for does not grow evenly with grid and steps: a count is {:.0f} % off what "
        "smaller runs foretell, and so may be the assumed times",
        100 * asked.unevenness));
  }
  report.data["assumed"] = {{"card", asked.card.id},
                            {"name", asked.card.name},
                            {"nx", asked.problem.nx},
                            {"ny", asked.problem.ny},
                            {"dtype", asked.problem.dtype},
                            {"steps", asked.steps},
                            {"parts", list_of(part_columns, parts)},
                            {"seconds", span_json(asked.cost.seconds)},
                            {"seconds_per_step", span_json(asked.cost.step_seconds)},
                            {"resident_seconds", span_json(asked.cost.resident_seconds)},
                            {"unevenness", asked.unevenness},
                            {"sentence", sentence}};
  add_marked_rows(report, report.data.find("assumed.parts"));
}

} // namespace diffbench::bench
