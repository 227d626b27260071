// SPDX-License-Identifier: Apache-2.0
#include "asked_of_card.hpp"

#include "assumed_report.hpp"
#include "columns.hpp"
#include "device_findings.hpp"
#include "diffbench/with_dtype.hpp"
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

struct Tried {
  std::int64_t nx, ny, steps;
};
/// Multiples of the usual blocks, and of what a launch may do of steps.
constexpr std::size_t corners = 8;
/// The last ones lie beyond these corners: is what they ask for as those foretell?
constexpr std::array<Tried, corners + 2> counted_runs = {{{32, 32, 4},
                                                          {32, 32, 12},
                                                          {32, 64, 4},
                                                          {32, 64, 12},
                                                          {64, 32, 4},
                                                          {64, 32, 12},
                                                          {64, 64, 4},
                                                          {64, 64, 12},
                                                          {96, 80, 4},
                                                          {32, 32, 28}}};
/// What the emulation calls those that are launched.
constexpr std::string_view a_graph = "a graph";
/// What is farther off than this is said.
constexpr double even_enough = 0.05;

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
          .counts = read_counts(device_counts(process.counts()))};
}

/// `cells` that a step updates; 0: not known.
void price(const CardCounts& run, const CardCounts& step, const CardCounts& resident, double cells,
           AskedOfCard& asked) {
  const CellWork work = stencil_work(asked.problem.dtype);
  const auto priced = [&](const CardCounts& counts, double updates) {
    return bill_of(asked.card, counts, work, updates);
  };
  const double updates = cells * static_cast<double>(asked.steps);
  asked.run = priced(run, updates);
  asked.step = priced(step, cells);
  asked.resident = priced(resident, updates);
  asked.allocations_per_step = step.counts[CardCount::allocations];
}

template <typename T>
void count_and_price(const Submission& submission, const TryLimits& limits,
                     const std::filesystem::path& work_dir,
                     const std::function<void(double)>& on_progress, AskedOfCard& asked) {
  std::vector<CountedRun> runs;
  for (const Tried& tried : counted_runs) {
    runs.push_back(count_run<T>(submission, limits, work_dir, tried));
    on_progress(static_cast<double>(runs.size()) / static_cast<double>(counted_runs.size()));
  }
  const std::span<const CountedRun> counted = std::span(runs).first(corners);
  for (const CountedRun& run : std::span(runs).subspan(corners)) {
    asked.unevenness = std::max(asked.unevenness, unevenness(counted, run));
  }
  const auto nx = static_cast<double>(asked.problem.nx), ny = static_cast<double>(asked.problem.ny);
  const auto steps = static_cast<double>(asked.steps);
  price(card_counts_at(counted, nx, ny, steps), counts_of_step(counted, nx, ny, steps),
        resident_counts(counted, nx, ny, steps), nx * ny, asked);
}

// What is said of it

struct ShownPart {
  const AskedOfCard* asked;
  const BillPart* part;

  /// What a step more adds to it.
  [[nodiscard]] BillPart step() const {
    const auto found = std::ranges::find(asked->step.parts, part->what, &BillPart::what);
    return found == asked->step.parts.end() ? BillPart() : *found;
  }
};

/// A count that is whole but for what its extrapolation rounds.
Value whole(double count) { return std::round(count * 1000) / 1000; }

std::string as_count(const Value& count) { return fmt::format("{:g}", count.number()); }

constexpr Column<ShownPart> part_columns[] = {
    {"part", "on an assumed GPU", as_text, field<&ShownPart::part, &BillPart::what>,
     [](const ShownPart& shown) { return assumed_name(shown.part->what, shown.asked->card); }},
    {"assumed", nullptr, as_text, field<&ShownPart::asked, &AskedOfCard::card, &AssumedCard::id>},
    {"calls_per_step", "calls a step", as_count,
     [](const ShownPart& shown) { return whole(shown.step().calls); }},
    {"bytes_per_step", "bytes a step", as_bytes,
     [](const ShownPart& shown) { return Value(std::round(shown.step().bytes)); }},
    {"calls", "calls in all", as_count,
     [](const ShownPart& shown) { return whole(shown.part->calls); }},
    {"bytes", nullptr, as_text,
     [](const ShownPart& shown) { return Value(std::round(shown.part->bytes)); }},
    {"seconds", "time in all", as_seconds_span,
     field<&ShownPart::part, &BillPart::seconds, span_json>},
    {"share", "of the time", as_percent_span,
     [](const ShownPart& shown) {
       return span_json(share_of(shown.part->seconds, shown.asked->run.seconds));
     }},
};

/// "1000 steps", "what ran, with 1000 launches of heat"
std::string span_of(const AskedOfCard& asked) {
  return asked.kernel.empty() ? counted(asked.steps, "step")
         : asked.steps == 1
             ? fmt::format("what ran, with a launch of {}", asked.kernel)
             : fmt::format("what ran, with {} launches of {}", asked.steps, asked.kernel);
}

std::string subject_of(const AskedOfCard& asked) {
  return asked.kernel.empty()
             ? fmt::format("{} x {} cells, {}, {}", asked.problem.nx, asked.problem.ny,
                           to_string(asked.problem.dtype), span_of(asked))
             : span_of(asked) + ", each of which, and what goes with it, is a step";
}

/// Whether fewer copies would make it faster at both ends.
std::optional<Assumption> pace_of_resident(const AskedOfCard& asked) {
  const Assumption run = asked.run.seconds, resident = asked.resident.seconds;
  const Assumption pace = span_between(run.low / resident.low, run.high / resident.high);
  return pace.low > 1.1 ? std::optional(pace) : std::nullopt;
}

std::string advice_of(const AskedOfCard& asked, const Ruling& ruling, bool copies_in_steps) {
  if (!asked.kernel.empty() && asked.steps < 2 && ruling.kind != PartKind::locking) {
    return "more work for what is copied: it launches once";
  }
  if (asked.allocations_per_step > 0.001) {
    return "allocate before the first step: it allocates in each, and no figure of a card tells "
           "what that takes";
  }
  constexpr PartKind of_copies[] = {PartKind::copies_up, PartKind::mapped, PartKind::waits};
  if (copies_in_steps && std::ranges::find(of_copies, ruling.kind) != std::end(of_copies)) {
    return "leave the field on the card: one copy before the first step, one after the last one";
  }
  const BillPart up = asked.run.of(PartKind::copies_up), down = asked.run.of(PartKind::copies_down);
  constexpr double small_copy = 65536; // bytes: the link needs about as long for them as a call
  if (ruling.kind == PartKind::copies_up && up.calls + down.calls > 2 &&
      up.bytes + down.bytes < small_copy * (up.calls + down.calls)) {
    return "fewer and larger copies: each costs its call, however little it carries (a residual "
           "need not come after each step)";
  }
  if ((ruling.kind == PartKind::memory || ruling.kind == PartKind::kernels) &&
      asked.run.excess >= 2) {
    return fmt::format(
        "let neighbouring threads take neighbouring cells: its warps move {:.1f} times the bytes "
        "that its threads ask for",
        asked.run.excess);
  }
  if (ruling.kind == PartKind::launches && asked.run.from_graphs) {
    return "several steps a launch: a step takes less than its launch, even from a graph";
  }
  return ruling.advice;
}

std::string sentence_of(const AskedOfCard& asked) {
  const auto ruling = ruling_of(asked.run, false);
  if (!ruling) {
    return fmt::format("Assumed, not measured ({}): it asks the card for nothing.", asked.card.id);
  }
  const auto resident = pace_of_resident(asked);
  std::string text =
      fmt::format("Assumed, not measured ({}): {}{} would take {}{}. {} of the time", asked.card.id,
                  span_of(asked), asked.kernel.empty() ? "" : ",", seconds_text(asked.run.seconds),
                  asked.kernel.empty() || asked.steps == 1
                      ? ""
                      : ", one launch more " + seconds_text(asked.step.seconds),
                  ruling->text);
  if (resident) {
    text += fmt::format("; with the field left on the card {}", pace_text(*resident));
  }
  return text + fmt::format(". First: {}.", advice_of(asked, *ruling, resident.has_value()));
}

std::string notes_of(const AskedOfCard& asked) {
  const char* const faults = asked.run.of(PartKind::managed).bytes > 0
                                 ? ", nor have the page faults of managed memory"
                                 : "";
  if (!asked.kernel.empty()) {
    return fmt::format(
        "of --assume: instructions of kernels are not counted, so one that computes "
        "much for each byte takes longer; threads that were not watched are taken "
        "to be like those that were; the context and allocations have no price{}",
        faults);
  }
  const Assumption instructions = instructions_of(stencil_work(Dtype::float32));
  return fmt::format(
      "of --assume: a kernel's instructions are those of a stencil, {:g} to {:g} a cell and step; "
      "its own are not counted, and allocations have no price{}",
      instructions.low, instructions.high, faults);
}

} // namespace

AskedOfCard ask_for_card(const Submission& submission, const Problem& problem, std::int64_t steps,
                         const AssumedCard& card, const TryLimits& limits,
                         const std::filesystem::path& work_dir,
                         const std::function<void(double)>& on_progress) {
  AskedOfCard asked;
  asked.card = card;
  asked.problem = problem;
  asked.steps = steps;
  try {
    with_dtype(problem.dtype, [&]<typename T>(T) {
      count_and_price<T>(submission, limits, work_dir, on_progress, asked);
    });
  } catch (const SubmissionFailed& failure) {
    asked.failure = failure.what();
  }
  return asked;
}

AskedOfCard ask_for_card(const Value& counts, const Value& steps, bool by_itself,
                         const AssumedCard& card) {
  AskedOfCard asked;
  asked.card = card;
  asked.kernel = steps.find("kernel").plain_text();
  const CardCounts run = read_counts(counts);
  const double issued = steps.find("launches").number();
  // Of a graph it is not counted how often it ran.
  const Counts<KernelCount> kernel = run.kernel(asked.kernel);
  const double ran = asked.kernel == a_graph
                         ? issued
                         : kernel[KernelCount::launches] - kernel[KernelCount::graph_launches];
  if (ran < 1 || (by_itself && ran < issued)) { // the device was broken, or nobody waited
    asked.failure = "not all of its launches ran";
    return asked;
  }
  asked.steps = static_cast<std::int64_t>(ran);
  const CardCounts launch = counts_of_launch(run, read_counts(steps.find("first")),
                                             read_counts(steps.find("last")), issued, ran);
  price(run, launch, resident_counts(run, launch, ran), 0, asked);
  return asked;
}

void append_asked(LabReport& report, const AskedOfCard& asked) {
  if (!asked.failure.empty()) {
    report.notes.push_back(
        fmt::format("what it would cost on {} is not known: {}", asked.card.id, asked.failure));
    return;
  }
  std::vector<ShownPart> parts;
  for (const BillPart& part : asked.run.parts) {
    parts.push_back({&asked, &part});
  }
  const std::string sentence = sentence_of(asked);
  append_table(report, assumed_title(asked.card) + subject_of(asked) + "\n" +
                           format_rows(part_columns, parts));
  report.sentence += (report.sentence.empty() ? "" : "\n") + sentence;
  report.notes.push_back(notes_of(asked));
  if (asked.unevenness > even_enough) {
    report.notes.push_back(fmt::format(
        "what it asks for does not grow evenly with grid and steps: a count is {:.0f} % off what "
        "smaller runs foretell, and so may be the assumed times",
        100 * asked.unevenness));
  }
  report.data["assumed"] = {{"card", asked.card.id},
                            {"name", asked.card.name},
                            {"kernel", or_null(asked.kernel)},
                            {"nx", asked.kernel.empty() ? Value(asked.problem.nx) : Value()},
                            {"ny", asked.kernel.empty() ? Value(asked.problem.ny) : Value()},
                            {"dtype", asked.kernel.empty() ? Value(asked.problem.dtype) : Value()},
                            {"steps", asked.steps},
                            {"parts", list_of(part_columns, parts)},
                            {"seconds", span_json(asked.run.seconds)},
                            {"seconds_per_step", span_json(asked.step.seconds)},
                            {"resident_seconds", span_json(asked.resident.seconds)},
                            {"unevenness", asked.unevenness},
                            {"sentence", sentence}};
  report.pictures.push_back(
      {fmt::format("Assumed, not measured: {} on {}", span_of(asked), asked.card.id), Figure::bars,
       "part", "seconds", "", "y", "assumed.parts"});
  add_marked_rows(report, report.data.find("assumed.parts"));
}

} // namespace diffbench::bench
