// SPDX-License-Identifier: Apache-2.0
#include "thread_report.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "speedup.hpp"
#include "units.hpp"
#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace diffbench::bench {

namespace {

/// What is within 5 % of the best is as good.
constexpr double nearly_fastest = 0.95;
/// A fraction so little below zero is rounding.
constexpr double negligible = 0.005;

/// A line of the table, held against one thread of the same name where both have a time.
struct ThreadLine {
  const ThreadStudy& study;
  const ThreadEntry& entry;
  std::optional<double> speed_up = {};
};

ThreadLine line_of(const ThreadStudy& study, const ThreadEntry& entry) {
  const auto one = std::ranges::find_if(study.entries, [&](const ThreadEntry& other) {
    return other.name == entry.name && other.threads == 1 && other.counts();
  });
  ThreadLine line{study, entry};
  if (one != study.entries.end() && entry.counts()) {
    line.speed_up = one->seconds() / entry.seconds() * (entry.work / one->work);
  }
  return line;
}

/// How many times as long as the other one an entry takes for the same work; both count.
Ratio work_ratio(const ThreadStudy& study, const ThreadEntry& entry, const ThreadEntry& other) {
  // The rounds of weak scaling are those of a comparison each.
  Ratio ratio = study.scaling == Scaling::strong
                    ? ratio_in_run(entry.series.samples, other.series.samples)
                    : ratio_apart(iteration_seconds(entry.series.samples),
                                  iteration_seconds(other.series.samples));
  const double work = other.work / entry.work;
  ratio.value *= work;
  if (ratio.interval) {
    ratio.interval->low *= work;
    ratio.interval->high *= work;
  }
  return ratio;
}

const ThreadEntry& best_of(const std::vector<const ThreadEntry*>& judged) {
  return **std::ranges::max_element(judged, {}, &ThreadEntry::throughput);
}

/// The next number of threads that may do as much.
std::string doubt(const ThreadStudy& study, const std::vector<const ThreadEntry*>& judged) {
  const ThreadEntry& best = best_of(judged);
  std::vector<const ThreadEntry*> rivals;
  std::ranges::copy_if(judged, std::back_inserter(rivals), [&](const ThreadEntry* const entry) {
    return entry != &best &&
           judge(work_ratio(study, *entry, best), study.least_effect) != Verdict::slower;
  });
  if (rivals.empty()) {
    return "";
  }
  const ThreadEntry& rival = best_of(rivals);
  return order_doubt(
      work_ratio(study, rival, best),
      counted(rival.threads, "thread") + (study.scaling == Scaling::weak ? " (for a cell)" : ""));
}

bool ran_on_others(const ThreadEntry& entry) {
  return entry.ranked && entry.threads != 0 && !entry.counts();
}

std::string label_of(const ThreadLine& line) {
  const ThreadEntry& entry = line.entry;
  return (line.study.mixed ? entry.label : std::to_string(entry.threads)) +
         (ran_on_others(entry) ? fmt::format(" (ran on {})", entry.series.threads)
          : line.study.oversubscribed(entry.threads) ? " (oversubscribed)"
                                                     : "");
}

/// None where the law has none: more threads do less than one, or more than their number of them.
std::string as_serial_fraction(const Value& value) {
  const double fraction = value.number();
  const bool lawful = fraction >= -negligible && fraction <= 1;
  return lawful ? format_percent(std::max(fraction, 0.0)) : no_value;
}

/// What a step does, a second.
Value rate_of(const ThreadEntry& entry, std::optional<double> of_step) {
  return entry.ranked && of_step ? Value(*of_step / entry.seconds()) : Value();
}

constexpr Column<ThreadLine> thread_columns[] = {
    {nullptr, "row", as_text, nullptr, label_of},
    {nullptr, "grid", as_text, [](const ThreadLine& line) { return or_null(line.entry.grid); }},
    {nullptr, "time", as_seconds,
     [](const ThreadLine& line) {
       return line.entry.ranked ? Value(line.entry.seconds()) : Value();
     }},
    {nullptr, "spread", as_spread,
     [](const ThreadLine& line) {
       return line.entry.ranked ? Value(relative_spread(line.entry.series.samples)) : Value();
     }},
    {"oversubscribed", nullptr, as_text,
     [](const ThreadLine& line) -> Value { return line.study.oversubscribed(line.entry.threads); }},
    {"speedup", "speed-up", as_ratio, field<&ThreadLine::speed_up>},
    {"efficiency", "efficiency", as_percent,
     [](const ThreadLine& line) {
       return line.speed_up ? Value(*line.speed_up / line.entry.threads) : Value();
     }},
    {"serial_fraction", "serial fraction", as_serial_fraction,
     [](const ThreadLine& line) {
       return line.speed_up && line.entry.threads > 1
                  ? Value(serial_fraction(line.study.scaling, line.entry.threads, *line.speed_up))
                  : Value();
     }},
    {nullptr, "rate", as_figure,
     [](const ThreadLine& line) {
       return rate_of(line.entry, line.entry.work / line.study.rate_unit);
     }},
    {nullptr, "GFLOP/s", as_figure,
     [](const ThreadLine& line) { return rate_of(line.entry, line.entry.gflop); }},
    {nullptr, "peak memory", as_bytes,
     [](const ThreadLine& line) -> Value { return line.entry.peak_bytes; }},
    {nullptr, "verified", as_text,
     [](const ThreadLine& line) { return or_null(line.entry.verified); }},
};

std::string format_table(const ThreadStudy& study) {
  TextTable table = table_of(thread_columns);
  if (!study.mixed) {
    table.rename(0, study.entries.front().name + ", threads");
  }
  table.rename(2, study.time);
  if (study.scaling == Scaling::weak) {
    table.rename(4, "scaled speed-up");
  }
  table.rename(7, study.rate);
  int lines = 0;
  for (const ThreadEntry& entry : study.entries) {
    if (entry.shown) {
      add_row(table, thread_columns, line_of(study, entry));
      ++lines;
    }
  }
  table.drop(study.mixed ? 1 : 8); // the grid, or GFLOP/s
  if (lines == 1) {                // nothing to compare with
    table.drop_empty();
  }
  return table.format();
}

std::string_view law_name(Scaling scaling) {
  return scaling == Scaling::strong ? "Amdahl" : "Gustafson";
}

std::optional<SerialFraction> fit_of(const ThreadStudy& study,
                                     const std::vector<const ThreadEntry*>& judged) {
  std::vector<ScalingPoint> points;
  for (const ThreadEntry* const entry : judged) {
    if (!study.oversubscribed(entry->threads)) {
      points.push_back({.threads = entry->threads,
                        .cells = entry->work,
                        .seconds = iteration_seconds(entry->series.samples)});
    }
  }
  return points.empty() || points.front().threads != 1 ? std::nullopt
                                                       : fit_serial_fraction(study.scaling, points);
}

/// A line.
std::string format_fit(Scaling scaling, const SerialFraction& fit) {
  std::string text = fmt::format("serial fraction by the law of {}: ", law_name(scaling));
  if (fit.high.value_or(fit.value) < -negligible) {
    return text +
           "none: n threads are more than n times as fast, since each part fits in a cache and "
           "the whole does not\n";
  }
  if (fit.value > 1) {
    return text + "none: more threads are slower than one\n";
  }
  const auto within = [](double fraction) {
    return format_percent(std::clamp(fraction, 0.0, 1.0));
  };
  text += within(fit.value);
  text += fit.low ? fmt::format(" (95 % interval {} to {}, bootstrap over the samples)",
                                within(*fit.low), within(*fit.high))
                  : " (without an interval: one sample a row)";
  if (fit.points == 1) {
    text += "; two thread counts are too few to check the law";
  } else {
    text += fmt::format("; fitted to {} thread counts, the worst is {} off the law", fit.points,
                        format_percent(fit.worst_error));
  }
  if (scaling == Scaling::strong && fit.value > 0 && fit.value < 1) {
    text += fit.low.value_or(0) > negligible
                ? fmt::format("; no number of threads would be more than {} times as fast",
                              format_figure(1 / *fit.low))
                : "; the samples set no bound to what more threads gain";
  }
  return text + "\n";
}

Value fit_json(Scaling scaling, const std::optional<SerialFraction>& fit) {
  if (!fit) {
    return nullptr;
  }
  return {{"law", law_name(scaling)},
          {"serial_fraction", fit->value},
          {"low", fit->low},
          {"high", fit->high},
          {"interval", "95 % percentile bootstrap over the samples"},
          {"points", fit->points},
          {"worst_error", fit->worst_error}};
}

std::string sentence_of(const ThreadStudy& study, const std::vector<const ThreadEntry*>& judged) {
  if (judged.empty()) {
    return "No number of threads has both a verified result and a time.";
  }
  const ThreadEntry& best = best_of(judged);
  if (judged.size() == 1) {
    return fmt::format("{} takes {} {} on {}; no other number was measured.", best.name,
                       format_seconds(best.seconds()), study.step, counted(best.threads, "thread"));
  }
  std::string text = fmt::format("{} is fastest on {}", best.name, counted(best.threads, "thread"));
  if (const auto speed_up = line_of(study, best).speed_up; speed_up && best.threads > 1) {
    text += fmt::format(", {} times as fast as on one ({} of {} times)", format_figure(*speed_up),
                        format_percent(*speed_up / best.threads), best.threads);
  }
  text += doubt(study, judged);
  const std::optional<int> advice = recommended_threads(study);
  return advice ? fmt::format("{}; take {}, the fewest within 5 % of the best.", text, *advice)
                : text + "; how many are enough for 95 % of the best is uncertain.";
}

std::vector<std::string> warnings(const ThreadStudy& study) {
  std::vector<std::string> notes;
  int most = 0;
  for (const ThreadEntry& entry : study.entries) {
    most = std::max(most, entry.threads);
  }
  if (std::isfinite(study.cpu_quota) && most > study.cpu_quota) {
    notes.push_back(
        fmt::format("the cgroup's quota is the time of {} CPUs: more threads than that are all "
                    "stopped for a part of each period",
                    format_figure(study.cpu_quota)));
  }
  if (most > study.usable_cpus) {
    notes.push_back(
        fmt::format("oversubscribed: on {}, more threads than that take turns and wait for "
                    "each other; they are left out of the fit",
                    counted(study.usable_cpus, "usable CPU")));
  }
  for (const ThreadEntry& entry : study.entries) {
    if (ran_on_others(entry)) {
      notes.push_back(
          fmt::format("{} ran on {} threads where {} were asked for, so this row "
                      "is not used",
                      entry.name, entry.series.threads, entry.threads));
    }
  }
  return notes;
}

} // namespace

std::vector<const ThreadEntry*> ThreadStudy::judged() const {
  std::vector<const ThreadEntry*> judged;
  for (const ThreadEntry& entry : entries) {
    if (entry.judged && entry.counts() && (judged.empty() || judged.front()->name == entry.name)) {
      judged.push_back(&entry);
    }
  }
  return judged;
}

GpuAnswer gpu_verdict(std::string_view gpu, std::string_view cpu, std::string_view pace,
                      const Ratio& times, Value figures, std::string_view rest) {
  const std::optional<bool> worth_it = reaches(times, gpu_worth_it);
  const char* const verdict = !worth_it   ? "whether that is worth it is uncertain"
                              : *worth_it ? "worth it"
                                          : "not worth it";
  figures["status"] = "ok";
  figures["bar"] = gpu_worth_it;
  figures["worth_it"] = worth_it;
  return {fmt::format(" Against the best of the CPU ({}) the GPU ({}) is {}: {} by the rule of {} "
                      "times{}.",
                      cpu, gpu, pace, verdict, gpu_worth_it, rest),
          std::move(figures)};
}

GpuAnswer no_gpu(const std::string& why) {
  return {fmt::format(" Whether a GPU is worth it is not known: no GPU row has a time ({}).", why),
          {{"status", "absent"}, {"reason", why}}};
}

std::optional<int> recommended_threads(const ThreadStudy& study) {
  const std::vector<const ThreadEntry*> judged = study.judged();
  for (const ThreadEntry* const entry : judged) {
    const ThreadEntry& best = best_of(judged);
    const std::optional<bool> is_slower =
        entry == &best ? std::optional(false)
                       : reaches(work_ratio(study, *entry, best), 1 / nearly_fastest);
    if (!is_slower) {
      return std::nullopt;
    }
    if (!*is_slower) {
      return entry->threads;
    }
  }
  return std::nullopt;
}

LabReport thread_report(const ThreadStudy& study) {
  const std::vector<const ThreadEntry*> judged = study.judged();
  const auto fit = fit_of(study, judged);
  const std::string table = study.title + format_table(study);
  LabReport report;
  report.figures = table + study.troubles;
  report.text = table +
                (fit ? "\n" + (study.mixed ? judged.front()->name + ": " : "") +
                           format_fit(study.scaling, *fit)
                     : "") +
                study.troubles;
  report.found_in_data = {"fit", "recommended_threads", "gpu"};
  report.sentence = sentence_of(study, judged) + study.gpu.sentence;
  report.notes = warnings(study);
  Value rows = Value::list();
  for (const ThreadEntry& entry : study.entries) {
    rows.push_back(object_of(thread_columns, line_of(study, entry), entry.json));
    if (entry.ranked) {
      report.series.push_back(entry.series);
    }
  }
  report.data = study.data;
  report.data["usable_cpus"] = study.usable_cpus;
  report.data["cpu_quota"] = study.cpu_quota;
  report.data["results"] = std::move(rows);
  report.data["fit"] = fit_json(study.scaling, fit);
  report.data["gpu"] = study.gpu.json;
  report.columns = heads_of(thread_columns);
  const auto over_threads = [](const char* title, const char* y) -> Picture {
    return {title, Figure::lines, "threads_asked", y, "backend racer"};
  };
  report.pictures = {over_threads("Speed-up over one thread", "speedup"),
                     over_threads("Efficiency", "efficiency")};
  if (const auto advice = recommended_threads(study)) {
    report.pictures.front().marks = {
        {.at = static_cast<double>(*advice), .text = "enough for 95 % of the best"}};
  }
  return report;
}

} // namespace diffbench::bench
