// SPDX-License-Identifier: Apache-2.0
#include "compare/history_report.hpp"

#include "columns.hpp"
#include "compare/change_points.hpp"
#include "history.hpp"
#include "statistics.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

/// Of a change in a row that has none.
constexpr double history_alpha = 0.01;

struct Change {
  std::size_t run = 0; ///< from 1
  std::string date;
  std::vector<std::string> commits; ///< of A and B; empty: they are no revisions
  double before = 0;                ///< median ratio of the level
  double after = 0;
};

struct RowHistory {
  HistoryRow row;
  std::vector<const HistoryEntry*> runs; ///< that nothing disturbed
  std::int64_t left_out = 0;
  std::vector<Change> changes = {};
  double level = 0;
};

std::vector<double> ratios_of(const RowHistory& row) {
  std::vector<double> ratios;
  for (const HistoryEntry* entry : row.runs) {
    ratios.push_back(entry->ratio.value);
  }
  return ratios;
}

void find_changes(RowHistory& row) {
  const std::vector<double> ratios = ratios_of(row);
  if (ratios.empty()) {
    return;
  }
  std::vector<std::size_t> begins = change_points(ratios, history_alpha);
  begins.insert(begins.begin(), 0);
  begins.push_back(ratios.size());
  std::vector<double> levels;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    const auto at = [&](std::size_t index) {
      return ratios.begin() + static_cast<std::ptrdiff_t>(index);
    };
    levels.push_back(median_of({at(begins[i]), at(begins[i + 1])}));
    if (i > 0) {
      row.changes.push_back({.run = begins[i] + 1,
                             .date = row.runs[begins[i]]->date,
                             .commits = row.runs[begins[i]]->commits,
                             .before = levels[i - 1],
                             .after = levels[i]});
    }
  }
  row.level = levels.back();
}

std::vector<RowHistory> rows_of(const History& history) {
  std::map<HistoryRow, RowHistory> rows;
  for (const HistoryEntry& entry : history.entries) {
    RowHistory& row = rows[entry.row];
    row.row = entry.row;
    if (entry.disturbed) {
      ++row.left_out;
    } else {
      row.runs.push_back(&entry);
    }
  }
  std::vector<RowHistory> found;
  for (auto& [key, row] : rows) {
    find_changes(row);
    found.push_back(std::move(row));
  }
  return found;
}

Value commits_json(const std::vector<std::string>& commits) {
  return commits.empty() ? Value() : Value(commits);
}

constexpr Column<Change> change_columns[] = {
    {"run", "from run", as_text, field<&Change::run>},
    {"date", "of", as_text, field<&Change::date>},
    {"commits", nullptr, as_text,
     [](const Change& change) { return commits_json(change.commits); }},
    {nullptr, "commit of B", as_text,
     [](const Change& change) -> Value {
       constexpr std::size_t enough = 12; // of its digits
       return change.commits.empty() ? Value() : Value(change.commits.back().substr(0, enough));
     }},
    {"before", "B / A before", as_thousandths, field<&Change::before>},
    {"after", "after", as_thousandths, field<&Change::after>},
    {nullptr, "B takes", as_text,
     [](const Change& change) -> Value {
       return fmt::format("{:+.1f} %", 100 * (change.after / change.before - 1));
     }},
};

Value first_date(const RowHistory& row) {
  return row.runs.empty() ? Value() : Value(row.runs.front()->date);
}
Value last_date(const RowHistory& row) {
  return row.runs.empty() ? Value() : Value(row.runs.back()->date);
}

// What a picture of the row is made of, a figure a run in each list.
template <auto member>
Value of_each_run(const RowHistory& row) {
  return Value::each(row.runs, [](const HistoryEntry* entry) -> Value { return entry->*member; });
}
Value intervals_of(const RowHistory& row) {
  return Value::each(row.runs, [](const HistoryEntry* entry) -> Value {
    const auto& interval = entry->ratio.interval;
    return interval ? Value(std::vector<double>{interval->low, interval->high}) : Value();
  });
}

/// The parameter of commands, or the work of steps.
std::string with_text(const HistoryRow& row) { return row.work ? to_text(*row.work) : row.label; }

constexpr Column<RowHistory> row_columns[] = {
    {"a", "A", as_text, field<&RowHistory::row, &HistoryRow::a>},
    {"b", "B", as_text, field<&RowHistory::row, &HistoryRow::b>},
    {"label", nullptr, as_text, [](const RowHistory& row) { return or_null(row.row.label); }},
    {"work", nullptr, as_text, field<&RowHistory::row, &HistoryRow::work, work_json>},
    {"with", "with", as_text, [](const RowHistory& row) { return or_null(with_text(row.row)); }},
    {"host_name", "host", as_text, field<&RowHistory::row, &HistoryRow::host>},
    {"cpu_model", nullptr, as_text, field<&RowHistory::row, &HistoryRow::cpu>},
    {"runs", "runs", as_text, [](const RowHistory& row) -> Value { return row.runs.size(); }},
    {"left_out", nullptr, as_text, field<&RowHistory::left_out>},
    {"first", "first", as_text, first_date},
    {"last", "last", as_text, last_date},
    {"level", "B / A now", as_thousandths,
     [](const RowHistory& row) { return row.runs.empty() ? Value() : Value(row.level); }},
    {nullptr, "changes", as_text,
     [](const RowHistory& row) -> Value { return row.changes.size(); }},
    {"changes", nullptr, as_text,
     [](const RowHistory& row) { return list_of(change_columns, row.changes); }},
    {"ratios", nullptr, as_text, [](const RowHistory& row) -> Value { return ratios_of(row); }},
    {"intervals", nullptr, as_text, intervals_of},
    {"dates", nullptr, as_text, of_each_run<&HistoryEntry::date>},
    {"commits", nullptr, as_text,
     [](const RowHistory& row) {
       return Value::each(row.runs, [](const HistoryEntry* e) { return commits_json(e->commits); });
     }},
    {"verdicts", nullptr, as_text, of_each_run<&HistoryEntry::verdict>},
};

std::string name_of(const HistoryRow& row) {
  const std::string with = with_text(row);
  return fmt::format("{} against {}{}", row.b, row.a, with.empty() ? "" : ", " + with);
}

} // namespace

LabReport history_report(const std::string& file) {
  const History history = read_history(file);
  const std::vector<RowHistory> rows = rows_of(history);
  LabReport report;
  report.text = format_rows(row_columns, rows);
  std::size_t changed = 0;
  std::int64_t left_out = 0;
  for (const RowHistory& row : rows) {
    left_out += row.left_out;
    if (!row.changes.empty()) {
      ++changed;
      append_table(report, name_of(row.row) + "\n\n" + format_rows(change_columns, row.changes));
    }
  }
  report.sentence = fmt::format(
      "{} of {} changed. A row that never changes is said to with a probability of {:g} %.",
      changed, counted(std::ssize(rows), "row"), 100 * history_alpha);
  if (history.cut_off > 0) {
    report.notes.push_back(
        fmt::format("{} cut off while it was written, or of another kind: left "
                    "out",
                    counted(history.cut_off, "line")));
  }
  if (left_out > 0) {
    report.notes.push_back(
        fmt::format("{} beside other programs: left out", counted(left_out, "run")));
  }
  report.columns = heads_of(row_columns);
  report.pictures = {{"Time of B over A, run after run", Figure::lines, "run", "ratios", "b a with",
                      "", "results", "intervals"}};
  report.data = {{"file", file}, {"alpha", history_alpha}, {"results", list_of(row_columns, rows)}};
  return report;
}

} // namespace diffbench::bench
