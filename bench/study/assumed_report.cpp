// SPDX-License-Identifier: Apache-2.0
#include "assumed_report.hpp"

#include "columns.hpp"
#include "speedup.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

namespace diffbench::bench {

namespace {

/// Two digits: more would say more than is known.
std::string rough(double times) {
  return times < 10 ? fmt::format("{:.2g}", times) : fmt::format("{:.0f}", times);
}

std::string error_text(double error) {
  return error == 0 ? "within" : fmt::format("{:+.0f} %", 100 * error);
}

constexpr Column<AssumptionCheck> error_columns[] = {
    {"row", "row", as_text, field<&AssumptionCheck::row>},
    {"run", "run", as_text, field<&AssumptionCheck::what>},
    {"assumed_seconds", "assumed", as_seconds_span, field<&AssumptionCheck::assumed, span_json>},
    {"measured_seconds", "measured", as_seconds, field<&AssumptionCheck::measured>},
    {"error", "error", [](const Value& error) { return error_text(error.number()); },
     field<&AssumptionCheck::error>},
};

std::string as_ratio_span(const Value& span) {
  return join_ends(as_ratio(span.find("low")), as_ratio(span.find("high")));
}

/// "2.10 to 9.30 times as fast as simd: not worth it by the rule of 10 times", no whole sentence.
std::string worth_text(const Assumption& times, const std::string& rival) {
  const bool surely = times.low >= gpu_worth_it;
  const char* verdict = surely != (times.high >= gpu_worth_it)
                            ? "worth it at best, not worth it at worst"
                        : surely ? "worth it"
                                 : "not worth it";
  return fmt::format("{} as {}: {} by the rule of {} times", pace_text(times), rival, verdict,
                     gpu_worth_it);
}

/// True or false, null where the ends disagree.
Value worth_json(const Assumption& times) {
  const bool surely = times.low >= gpu_worth_it;
  return surely == (times.high >= gpu_worth_it) ? Value(surely) : Value();
}

/// "two fields take 3.12 MiB of its 139 to 140 GiB: they fit", no whole sentence.
std::string fit_text(const AssumedRuns& assumed) {
  const Assumption& memory = assumed.card.memory;
  const std::string answer = fits(assumed.card, assumed.bytes);
  return fmt::format("{} take {} of its {}: they {}", assumed.what, format_bytes(assumed.bytes),
                     join_ends(format_bytes(memory.low), format_bytes(memory.high)),
                     answer == "yes"       ? "fit"
                     : answer == "perhaps" ? "fit or not, depending on what else is in it"
                                           : "do not fit");
}

// --- the table -----------------------------------------------------------------------------------

struct AssumedLine {
  const AssumedRuns* all;
  const AssumedRun* run;

  [[nodiscard]] const Assumption& compared() const {
    return all->whole ? run->bill.warm : run->step;
  }
  [[nodiscard]] std::optional<Assumption> times() const {
    if (!all->rival) {
      return std::nullopt;
    }
    const auto [low, high] = times_as_fast(all->rival->seconds, compared());
    return Assumption{low * all->rival->width.low, high * all->rival->width.high};
  }
};

constexpr Column<BillPart> part_columns[] = {
    {"part", nullptr, as_text, field<&BillPart::what>},
    {"calls", nullptr, as_text, field<&BillPart::calls>},
    {"bytes", nullptr, as_text, field<&BillPart::bytes>},
    {"seconds", nullptr, as_text, field<&BillPart::seconds, span_json>},
};

constexpr Column<AssumedLine> line_columns[] = {
    {"backend", "on an assumed GPU", as_text, field<&AssumedLine::run, &AssumedRun::name>,
     [](const AssumedLine& line) { return assumed_name(line.run->name, line.all->card); }},
    {"kernel", nullptr, as_text,
     [](const AssumedLine& line) { return Value(line.run->run.backend); }},
    {"transfer", nullptr, as_text,
     [](const AssumedLine& line) { return Value(line.run->run.locked ? "pinned" : "pageable"); }},
    {"roundtrip_every", nullptr, as_text,
     [](const AssumedLine& line) {
       const CardRun& run = line.run->run;
       return run.trips > 1 ? Value(std::llround(run.steps / run.trips)) : Value();
     }},
    {"wait_each_step", nullptr, as_text,
     field<&AssumedLine::run, &AssumedRun::run, &CardRun::waits_each_step>},
    {"assumed", nullptr, as_text, [](const AssumedLine& line) { return Value(line.all->card.id); }},
    {"seconds_per_step", "time/iter", as_seconds_span,
     [](const AssumedLine& line) { return span_json(line.run->step); }},
    {"warm_seconds", "warm run", as_seconds_span,
     [](const AssumedLine& line) { return span_json(line.run->bill.warm); }},
    {"cold_seconds", "cold run", as_seconds_span,
     [](const AssumedLine& line) { return span_json(line.run->bill.seconds); }},
    {"parts", nullptr, as_text,
     [](const AssumedLine& line) { return list_of(part_columns, line.run->bill.parts); }},
    {"times_best_cpu", "vs best CPU", as_ratio_span,
     [](const AssumedLine& line) {
       const auto times = line.times();
       return times ? span_json(*times) : Value();
     }},
};

std::vector<AssumedLine> lines_of(const AssumedRuns& assumed) {
  std::vector<AssumedLine> lines;
  for (const AssumedRun& run : assumed.runs) {
    lines.push_back({&assumed, &run});
  }
  return lines;
}

Assumption sum_of(const Bill& bill, const std::vector<PartKind>& kinds) {
  Assumption sum;
  for (const PartKind kind : kinds) {
    const Assumption seconds = bill.of(kind).seconds;
    sum = {sum.low + seconds.low, sum.high + seconds.high};
  }
  return sum;
}

struct LedgerLine {
  const char* name;
  std::vector<PartKind> kinds;
};

/// A part a line, a run a column.
std::string ledger_table(const AssumedRuns& assumed) {
  TextTable::Cells header{"a cold run goes to"};
  for (const AssumedRun& run : assumed.runs) {
    header.push_back(run.name);
  }
  TextTable table(std::move(header));
  const auto add = [&](const std::string& name, auto seconds_of) {
    TextTable::Cells cells{assumed_name(name, assumed.card)};
    for (const AssumedRun& run : assumed.runs) {
      const Assumption seconds = seconds_of(run.bill);
      cells.push_back(seconds.high > 0 ? seconds_text(seconds) : no_value);
    }
    table.add(std::move(cells));
  };
  using enum PartKind;
  const LedgerLine lines[] = {{"context", {context}},
                              {"page-locking", {locking}},
                              {"copies up", {copies_up}},
                              {"launches", {launches}},
                              {"kernels", {memory, instructions, kernels, mapped}},
                              {"waits", {waits}},
                              {"copies down", {copies_down}}};
  for (const LedgerLine& line : lines) {
    add(line.name, [&](const Bill& bill) { return sum_of(bill, line.kinds); });
  }
  add("= wall", [](const Bill& bill) { return bill.seconds; });
  return table.format();
}

// --- what rules ----------------------------------------------------------------------------------

/// What is to be changed first where such a part rules.
struct Rule {
  PartKind kind;
  const char* ruler;
  const char* one; ///< of one of them; none: they have no number
  const char* advice;
};
constexpr const char* fewer_bytes = "several steps a launch read and write less";
constexpr Rule rules[] = {
    {PartKind::copies_up, "copies up and down", "One copy up and one down",
     "more steps between the two copies; page-lock the host's arrays where they are used again"},
    {PartKind::managed, "Moves of managed memory", nullptr,
     "touch the arrays on the host before the first step and after the last one only"},
    {PartKind::mapped, "What kernels read and write of the host's memory", nullptr,
     "copy the field to the card before the first step: what is page-locked is fetched from the "
     "host each time"},
    {PartKind::on_card, "copies and memsets on the card", "One copy or memset on the card",
     "exchange the pointers instead of copying, and write every cell in the kernel"},
    {PartKind::launches, "launches", "One launch",
     "several steps a launch, or a graph: the kernel is done before the next one comes"},
    {PartKind::memory, "What the kernels read and write", nullptr, fewer_bytes},
    {PartKind::instructions, "The kernels' instructions", nullptr,
     "more cells a thread, so that each has fewer instructions"},
    {PartKind::kernels, "What the kernels do", nullptr, fewer_bytes},
    {PartKind::waits, "waits", "One wait",
     "wait once, after the last step; algorithms of Thrust wait each, but with "
     "thrust::cuda::par_nosync"},
    {PartKind::locking, "Page-locking", nullptr,
     "page-lock once for many runs, or not at all where a run copies only twice"},
};

/// "1000 launches", "1000 copies up and down", "1000 copies up and 640000 down".
std::string ruler_text(const Bill& bill, const Rule& rule) {
  if (rule.one == nullptr) {
    return rule.ruler;
  }
  const double calls = std::round(bill.of(rule.kind).calls);
  const double down = std::round(bill.of(PartKind::copies_down).calls);
  if (rule.kind == PartKind::copies_up && calls != down) {
    return fmt::format("{} up and {:.0f} down",
                       calls == 1 ? "One copy" : fmt::format("{:.0f} copies", calls), down);
  }
  return calls <= 1 ? rule.one : fmt::format("{:.0f} {}", calls, rule.ruler);
}

/// Each row that was measured on such a card, as it was measured.
std::vector<AssumptionCheck> checks_of(const AssumedCard& card, const ComparisonResult& measured) {
  std::vector<AssumptionCheck> checks;
  const auto steps = static_cast<double>(measured.iterations);
  for (const Row& row : measured.rows) {
    const bool copies =
        row.transfer && *row.transfer != Transfer::mapped && *row.transfer != Transfer::managed;
    if (!row.ranked() || !row.on_device() || !copies || !has_counts(row.kernel)) {
      continue;
    }
    const auto visits = [&](std::int64_t every) {
      return every > 0 ? steps / static_cast<double>(every) : 0;
    };
    const CardRun run{.backend = row.kernel,
                      .cells = static_cast<double>(measured.problem.cells()),
                      .steps = steps,
                      .locked = *row.transfer != Transfer::pageable,
                      .trips = std::max(1.0, visits(row.roundtrip_every)),
                      .snapshots = visits(row.snapshot_every),
                      .overlaps = row.snapshot_every > 0 && row.overlapped};
    const AssumedRun one = assume(card, row.name, run, stencil_work(measured.problem.dtype));
    checks.push_back({row.name, "step", one.step, row.step_seconds()});
    const bool plain = run.trips == 1 && run.snapshots == 0;
    if (row.warm && plain) {
      checks.push_back({row.name, "warm", one.bill.warm, row.warm->wall});
    }
    if (row.cold && plain) {
      checks.push_back({row.name, "cold", one.bill.seconds, row.cold->wall});
    }
  }
  return checks;
}

/// What a reader takes away: "a copy every step, page-locked memory: ... as the CPU; kept on the
/// card: ... as fast."
std::string headline_of(const AssumedRuns& assumed) {
  if (!assumed.rival || fits(assumed.card, assumed.bytes) == "no") {
    return "";
  }
  const AssumedRun& first = assumed.runs.front();
  const bool copies = !assumed.whole && first.run.trips == first.run.steps && first.run.trips > 1;
  const auto pace = [&](const AssumedRun& run) {
    return pace_text(*AssumedLine{&assumed, &run}.times());
  };
  return fmt::format("{}{}: {}{}. ",
                     copies
                         ? fmt::format("a copy every step, {} memory: {} as the CPU; ",
                                       first.run.locked ? "page-locked" : "ordinary", pace(first))
                         : "",
                     assumed.whole ? "a whole run" : "kept on the card", pace(best_of(assumed)),
                     copies ? "" : " as the CPU");
}

std::string sentence_of(const AssumedRuns& assumed) {
  const std::string headline = headline_of(assumed);
  std::string fit = fit_text(assumed);
  if (!headline.empty()) {
    fit.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(fit.front())));
  }
  std::string text =
      fmt::format("Assumed, not measured ({}): {}{}.", assumed.card.id, headline, fit);
  if (fits(assumed.card, assumed.bytes) == "no") {
    return text;
  }
  const char* unit = assumed.whole ? "for a run" : "a step";
  const auto takes = [&](const AssumedRun& run) {
    const AssumedLine line{&assumed, &run};
    return fmt::format(" {} would take {} {}", run.name, seconds_text(line.compared()), unit);
  };
  const AssumedRun& best = best_of(assumed);
  if (&best != &assumed.runs.front()) {
    text += takes(assumed.runs.front()) + ".";
  }
  text += takes(best);
  if (assumed.rival) {
    text += ", " + worth_text(*AssumedLine{&assumed, &best}.times(), assumed.rival->name);
  }
  const auto ruling = ruling_of(best.bill, true);
  return text + (ruling ? fmt::format(". {} of a warm run.", ruling->text) : ".") + assumed.answer;
}

} // namespace

void declare_assume(OptionList& options, std::optional<AssumedCard>& card) {
  options.value(
      "--assume CARD|FILE",
      fmt::format("also predict a GPU that is not here, from public figures and marked as "
                  "assumed in every line: {}, or a file like docs/lab.md's",
                  fmt::join(assumed_card_names(), ", ")),
      [&card](std::string_view option, const std::string& text) {
        card = parse_as(option, text, find_assumed_card);
      });
}

Value span_json(const Assumption& span) { return {{"low", span.low}, {"high", span.high}}; }

std::string as_seconds_span(const Value& span) {
  return join_ends(format_seconds(span.find("low").number()),
                   format_seconds(span.find("high").number()));
}

std::string pace_text(const Assumption& times) {
  if (times.low >= 1) {
    return fmt::format("{} times as fast", join_ends(rough(times.low), rough(times.high)));
  }
  if (times.high < 1) {
    return fmt::format("{} times as slow", join_ends(rough(1 / times.high), rough(1 / times.low)));
  }
  return fmt::format("between {} times as slow and {} times as fast", rough(1 / times.low),
                     rough(times.high));
}

Assumption times_as_fast(double rival_seconds, const Assumption& seconds) {
  return {rival_seconds / seconds.high, rival_seconds / seconds.low};
}

std::string assumed_title(const AssumedCard& card) {
  return fmt::format("ASSUMED, NOT MEASURED: {}\n", card.name);
}

std::string assumed_name(const std::string& row, const AssumedCard& card) {
  return fmt::format("{} (assumed {})", row, card.id);
}

std::string fits(const AssumedCard& card, double bytes) {
  return bytes <= card.memory.low ? "yes" : bytes <= card.memory.high ? "perhaps" : "no";
}

Assumption share_of(const Assumption& part, const Assumption& whole) {
  const double fast = whole.low > 0 ? std::min(1.0, part.low / whole.low) : 0;
  const double slow = whole.high > 0 ? std::min(1.0, part.high / whole.high) : 0;
  return span_between(fast, slow);
}

std::string as_percent_span(const Value& share) {
  const auto percent = [&](const char* end) {
    return fmt::format("{:.0f} %", 100 * share.find(end).number());
  };
  return join_ends(percent("low"), percent("high"));
}

AssumedRun assume(const AssumedCard& card, std::string name, const CardRun& run,
                  const CellWork& work) {
  AssumedRun assumed{
      .name = std::move(name), .run = run, .bill = bill_of(card, run, work), .step = {}};
  CardRun stepping = run;
  stepping.trips = run.trips > 1 ? run.trips : 0;
  const Assumption seconds = bill_of(card, stepping, work).warm;
  assumed.step = {seconds.low / run.steps, seconds.high / run.steps};
  return assumed;
}

const AssumedRun& best_of(const AssumedRuns& assumed) {
  return *std::ranges::min_element(assumed.runs, {}, [&](const AssumedRun& run) {
    const Assumption& compared = AssumedLine{&assumed, &run}.compared();
    return compared.low + compared.high;
  });
}

std::optional<Ruling> ruling_of(const Bill& bill, bool warm) {
  const Assumption& whole = warm ? bill.warm : bill.seconds;
  const Rule* ruling = nullptr;
  Assumption largest;
  for (const Rule& rule : rules) {
    const bool counts = !warm || rule.kind != PartKind::locking;
    std::vector<PartKind> kinds{rule.kind};
    if (rule.kind == PartKind::copies_up) {
      kinds.push_back(PartKind::copies_down);
    }
    const Assumption share = counts ? share_of(sum_of(bill, kinds), whole) : Assumption{};
    if (share.low + share.high > largest.low + largest.high) {
      largest = share;
      ruling = &rule;
    }
  }
  return ruling == nullptr
             ? std::nullopt
             : std::optional(Ruling{.kind = ruling->kind,
                                    .text = fmt::format("{}: {}", ruler_text(bill, *ruling),
                                                        as_percent_span(span_json(largest))),
                                    .advice = ruling->advice});
}

void append_assumed(LabReport& report, const AssumedRuns& assumed,
                    const ComparisonResult& measured) {
  if (is_such(assumed.card, fact(measured.context, "gpu_name"))) {
    if (const auto checks = checks_of(assumed.card, measured); !checks.empty()) {
      append_checks(report, assumed.card, checks);
      return;
    }
  }
  AssumedRuns alone = assumed;
  alone.rival.reset();
  const auto table = [&](const AssumedRuns& shown) {
    return assumed_title(shown.card) + format_rows(line_columns, lines_of(shown));
  };
  append_table(report, table(assumed), table(alone));
  if (assumed.ledger) {
    append_table(report, assumed_title(assumed.card) + ledger_table(assumed));
  }
  const std::string sentence = sentence_of(assumed);
  const AssumedLine best{&assumed, &best_of(assumed)};
  const auto times = best.times();
  report.sentence += (report.sentence.empty() ? "" : "\n") + sentence;
  report.data["assumed"] = {{"card", assumed.card.id},
                            {"name", assumed.card.name},
                            {"fits", fits(assumed.card, assumed.bytes)},
                            {"rows", list_of(line_columns, lines_of(assumed))},
                            {"best", best.run->name},
                            {"times_as_fast", times ? span_json(*times) : Value()},
                            {"worth_it", times ? worth_json(*times) : Value()},
                            {"sentence", sentence}};
  report.found_in_data.insert(report.found_in_data.end(),
                              {"assumed.rows[].times_best_cpu", "assumed.times_as_fast",
                               "assumed.worth_it", "assumed.sentence"});
  add_marked_rows(report, report.data.find("assumed.rows"));
}

double AssumptionCheck::error() const {
  return measured < assumed.low    ? assumed.low / measured - 1
         : measured > assumed.high ? assumed.high / measured - 1
                                   : 0;
}

bool is_such(const AssumedCard& card, std::string_view gpu_name) {
  const auto in_word = [&](std::size_t place) {
    return place < gpu_name.size() &&
           std::isalnum(static_cast<unsigned char>(gpu_name[place])) != 0;
  };
  const std::string& name = card.reported_as;
  for (std::size_t at = gpu_name.find(name); at != std::string::npos;
       at = gpu_name.find(name, at + 1)) {
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + name.size())) {
      return true;
    }
  }
  return false;
}

void add_marked_rows(LabReport& report, const Value& rows) {
  if (!report.rows) {
    report.rows = report.data.find("results");
  }
  for (const Value& row : rows.elements()) {
    report.rows->push_back(row);
  }
}

void append_checks(LabReport& report, const AssumedCard& card,
                   std::span<const AssumptionCheck> checks) {
  const auto within = std::ranges::count(checks, 0.0, &AssumptionCheck::error);
  const auto worst = std::ranges::max_element(
      checks, {}, [](const AssumptionCheck& check) { return std::abs(check.error()); });
  append_table(report, assumed_title(card) + format_rows(error_columns, checks));
  report.sentence += fmt::format(
      "\nMeasured figures of such a card replace those assumed for {}: {} of {} lie within the "
      "assumed span{}.",
      card.id, within, checks.size(),
      within == std::ssize(checks)
          ? ""
          : fmt::format(", the worst is {} off ({}, {})", error_text(worst->error()), worst->row,
                        worst->what));
  report.data["assumed"] = {
      {"card", card.id}, {"name", card.name}, {"checks", list_of(error_columns, checks)}};
}

} // namespace diffbench::bench
