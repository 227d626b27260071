// SPDX-License-Identifier: Apache-2.0
#include "thread_report.hpp"

#include "columns.hpp"
#include "conclusion.hpp"
#include "report_json.hpp"
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

/// A fraction so little below zero is rounding.
constexpr double negligible = 0.005;

/// A line of the table, held against one thread of the same group where both have a time.
struct ThreadLine : ThreadRow {
  const ThreadStudy* study = nullptr;
  std::optional<double> speed_up = {};
  Value speed_up_width = {};
};

ThreadLine line_of(const ThreadStudy& study, const ThreadRow& row) {
  const auto one = std::ranges::find_if(study.rows, [&](const ThreadRow& other) {
    return other.group == row.group && other.threads == 1 && other.counts();
  });
  ThreadLine line{row, &study};
  if (one != study.rows.end() && row.counts()) {
    line.speed_up = one->step_seconds() / row.step_seconds() * (row.work / one->work);
    line.speed_up_width = width_json(one->samples, row.samples);
  }
  return line;
}

/// Those that the law and the advice are of: of the first group that counts(), all that do.
std::vector<const ThreadRow*> judged_rows(const ThreadStudy& study) {
  std::vector<const ThreadRow*> judged;
  for (const ThreadRow& row : study.rows) {
    if (row.judged && row.counts() && (judged.empty() || judged.front()->group == row.group)) {
      judged.push_back(&row);
    }
  }
  return judged;
}

bool ran_on_others(const ThreadRow& row) {
  return row.ranked() && row.threads != 0 && !row.counts();
}

std::string label_of(const ThreadLine& line) {
  return line.name + (ran_on_others(line) ? fmt::format(" (ran on {})", line.provenance.threads)
                      : line.study->oversubscribed(line.threads) ? " (oversubscribed)"
                                                                 : "");
}

/// What a step does, a second.
Value rate_of(const ThreadRow& row, std::optional<double> of_step) {
  return row.ranked() && of_step ? Value(*of_step / row.step_seconds()) : Value();
}

constexpr Column<ThreadLine> thread_columns[] = {
    {nullptr, "row", as_text, nullptr, label_of},
    {nullptr, "grid", as_text, field<&ThreadLine::grid, or_null>},
    {nullptr, "time", as_seconds,
     [](const ThreadLine& line) { return line.ranked() ? Value(line.step_seconds()) : Value(); }},
    {nullptr, "spread", as_spread,
     [](const ThreadLine& line) {
       return line.ranked() ? Value(relative_spread(line.samples)) : Value();
     }},
    {"oversubscribed", nullptr, as_text,
     [](const ThreadLine& line) -> Value { return line.study->oversubscribed(line.threads); }},
    {"speedup", "speed-up", as_ratio, field<&ThreadLine::speed_up>},
    {"speedup_width", nullptr, as_text, field<&ThreadLine::speed_up_width>},
    {"efficiency", "efficiency", as_percent,
     [](const ThreadLine& line) {
       return line.speed_up ? Value(*line.speed_up / line.threads) : Value();
     }},
    {"serial_fraction", "serial fraction", as_percent,
     [](const ThreadLine& line) {
       return line.speed_up && line.threads > 1
                  ? Value(serial_fraction(line.study->scaling, line.threads, *line.speed_up))
                  : Value();
     }},
    {nullptr, "rate", as_figure,
     [](const ThreadLine& line) { return rate_of(line, line.work / line.study->rate_unit); }},
    {nullptr, "GFLOP/s", as_figure,
     [](const ThreadLine& line) { return rate_of(line, line.gflop); }},
    {nullptr, "peak memory", as_bytes, field<&ThreadLine::peak_bytes>},
    {nullptr, "verified", as_text, field<&ThreadLine::proof, or_null>},
};

std::string format_table(const ThreadStudy& study) {
  TextTable table = table_of(thread_columns);
  constexpr std::size_t rate_column = 7;
  table.rename(rate_column, study.rate);
  std::vector<ThreadLine> lines;
  for (const ThreadRow& row : study.rows) {
    if (row.status != Status::skipped) {
      lines.push_back(line_of(study, row));
    }
  }
  return format_rows(thread_columns, lines, std::move(table));
}

std::string_view law_name(Scaling scaling) {
  return scaling == Scaling::strong ? "Amdahl" : "Gustafson";
}

std::optional<SerialFraction> fit_of(const ThreadStudy& study,
                                     const std::vector<const ThreadRow*>& judged) {
  std::vector<ScalingPoint> points;
  for (const ThreadRow* const row : judged) {
    if (disturbed(row->samples)) {
      return std::nullopt; // the law is fitted to medians
    }
    if (!study.oversubscribed(row->threads)) {
      points.push_back({.threads = row->threads,
                        .cells = row->work,
                        .seconds = iteration_seconds(row->samples)});
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

std::string sentence_of(const ThreadStudy& study, const PacedRows& pace) {
  const Leader<StudyRow> found = pace.first();
  if (found.best == nullptr) {
    return "No number of threads has both a verified result and a time.";
  }
  const StudyRow& best = *found.best;
  if (pace.rows.size() == 1) {
    return fmt::format("{} was measured on {} only.", best.group, counted(best.threads, "thread"));
  }
  std::string text =
      fmt::format("{} is fastest on {}", best.group, counted(best.threads, "thread"));
  if (pace.rows.front().threads == 1 && best.threads > 1) {
    const double times = pace.rows.front().step_seconds() / best.step_seconds();
    text += fmt::format(", {} times as fast as on one ({} of {} times)", format_figure(times),
                        format_percent(times / best.threads), best.threads);
  }
  if (found.rival != nullptr) {
    text += order_doubt(found.ratio, counted(found.rival->threads, "thread") +
                                         (study.scaling == Scaling::weak ? " (for a cell)" : ""));
  }
  const StudyRow* const enough = pace.enough();
  return text + (enough != nullptr
                     ? fmt::format("; take {}, the fewest within 5 % of the best.", enough->threads)
                     : "; how many are enough for 95 % of the best is uncertain.");
}

std::vector<std::string> warnings(const ThreadStudy& study) {
  std::vector<std::string> notes;
  const int most = std::ranges::max(study.rows, {}, &ThreadRow::threads).threads;
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
  for (const ThreadRow& row : study.rows) {
    if (ran_on_others(row)) {
      notes.push_back(
          fmt::format("{} ran on {} threads where {} were asked for, so this row is "
                      "not used",
                      row.group, row.provenance.threads, row.threads));
    }
  }
  return notes;
}

} // namespace

GpuAnswer gpu_verdict(std::string_view gpu, std::string_view cpu, std::string_view pace,
                      const Ratio& times, Value figures) {
  const std::optional<bool> worth_it = reaches(times, gpu_worth_it);
  const char* const verdict = !worth_it   ? "whether that is worth it is uncertain"
                              : *worth_it ? "worth it"
                                          : "not worth it";
  figures["status"] = "ok";
  figures["bar"] = gpu_worth_it;
  figures["worth_it"] = worth_it;
  return {fmt::format(" Against the best of the CPU ({}) the GPU ({}) is {}: {} by the rule of {} "
                      "times.",
                      cpu, gpu, pace, verdict, gpu_worth_it),
          std::move(figures)};
}

GpuAnswer no_gpu(const std::string& why) {
  return {fmt::format(" Whether a GPU is worth it is not known: no GPU row has a time ({}).", why),
          {{"status", "absent"}, {"reason", why}}};
}

LabReport thread_report(const ThreadStudy& study) {
  const std::vector<const ThreadRow*> judged = judged_rows(study);
  PacedRows pace{study.least_effect, study.scaling == Scaling::weak};
  for (const ThreadRow* const row : judged) {
    pace.add(*row, row->work);
  }
  const StudyRow* const enough = pace.enough();
  const auto fit = fit_of(study, judged);
  const std::string table = study.title + format_table(study);
  LabReport report;
  report.figures = table + study.troubles;
  report.text =
      table +
      (fit ? fmt::format("\n{}: {}", judged.front()->group, format_fit(study.scaling, *fit)) : "") +
      study.troubles;
  report.found_in_data = {"fit", "recommended_threads", "gpu"};
  report.sentence = sentence_of(study, pace) + study.gpu.sentence;
  report.notes = warnings(study);
  Value rows = Value::list();
  for (const ThreadRow& row : study.rows) {
    rows.push_back(object_of(thread_columns, line_of(study, row), row.json));
    if (row.ranked()) {
      report.series.push_back(row.series);
    }
  }
  report.data = study.data;
  report.data["usable_cpus"] = study.usable_cpus;
  report.data["cpu_quota"] = study.cpu_quota;
  report.data["results"] = std::move(rows);
  report.data["fit"] = fit_json(study.scaling, fit);
  report.data["gpu"] = study.gpu.json;
  report.data["recommended_threads"] = enough != nullptr ? Value(enough->threads) : Value();
  report.columns = heads_of(thread_columns);
  const auto over_threads = [](const char* title, const char* y) -> Picture {
    return {title, Figure::lines, "threads_asked", y, "backend racer"};
  };
  report.pictures = {over_threads("Speed-up over one thread", "speedup"),
                     over_threads("Efficiency", "efficiency")};
  if (enough != nullptr) {
    report.pictures.front().marks = {
        {.at = static_cast<double>(enough->threads), .text = "enough for 95 % of the best"}};
  }
  return report;
}

} // namespace diffbench::bench
