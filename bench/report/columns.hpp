// SPDX-License-Identifier: Apache-2.0
// The columns of a result, each declared once: table, JSON and CSV are made of them.
#pragma once

#include "text_table.hpp"
#include "value.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace diffbench::bench {

// How a value is shown in a table; no_value for null.
[[nodiscard]] std::string as_text(const Value& value);   ///< text and whole numbers as they are
[[nodiscard]] std::string as_yes_no(const Value& value); ///< of a truth
[[nodiscard]] std::string as_seconds(const Value& value);
[[nodiscard]] std::string as_figure(const Value& value);
[[nodiscard]] std::string as_ratio(const Value& value);   ///< "2.54x"
[[nodiscard]] std::string as_percent(const Value& value); ///< of a fraction
[[nodiscard]] std::string as_spread(const Value& value);  ///< of a fraction: "+-1.2 %"
[[nodiscard]] std::string as_bytes(const Value& value);
[[nodiscard]] std::string as_thousandths(const Value& value); ///< "0.998", of ratios near 1
[[nodiscard]] std::string as_rate(const Value& value);        ///< of bytes a second: "16.4 GB/s"

/// In a unit as unit_name() gives it; what is assumed has two ends, low and high.
[[nodiscard]] std::string as_unit(const Value& value, std::string_view unit);
/// "2 to 3 us" of "2 us" and "3 us"; one of them where they are equal.
[[nodiscard]] std::string join_ends(const std::string& low, const std::string& high);

/// Row is what the functions need to know: a row, or a row and what it is part of.
template <typename Row>
struct Column {
  const char* key = nullptr;    ///< in JSON: "a.b" is b of the object a; none: only for people
  const char* header = nullptr; ///< in the table; none: only for programs
  std::string (*unit)(const Value&) = as_text;
  Value (*value)(const Row&) = nullptr;
  /// Of the table where that is not the value in its unit.
  std::string (*cell)(const Row&) = nullptr;
  bool optional = false; ///< a table that is too wide can do without it
};

/// What is at the end of a path from a row: each part is a member, or a function, of the one
/// before. Null where a pointer or an optional on the way is empty; an enum as to_string() calls
/// it.
template <auto part, auto... parts, typename Whole>
[[nodiscard]] Value field(const Whole& whole) {
  constexpr auto next = part; // with a name: what is found could refer to a temporary, GCC 14 says
  const auto& found = std::invoke(next, whole);
  using Found = std::remove_cvref_t<decltype(found)>;
  if constexpr (sizeof...(parts) > 0) {
    if constexpr (requires { *found; }) {
      return found ? field<parts...>(*found) : Value();
    } else {
      return field<parts...>(found);
    }
  } else if constexpr (std::is_enum_v<Found>) {
    return to_string(found);
  } else {
    return found;
  }
}

/// Null for no text.
[[nodiscard]] inline Value or_null(const std::string& text) {
  return text.empty() ? Value() : Value(text);
}

/// The columns that have a header, without rows.
template <typename Row, std::size_t N>
[[nodiscard]] TextTable table_of(const Column<Row> (&columns)[N]) {
  TextTable::Cells header;
  std::vector<std::size_t> optional;
  for (const Column<Row>& column : columns) {
    if (column.header != nullptr) {
      if (column.optional) {
        optional.push_back(header.size());
      }
      header.emplace_back(column.header);
    }
  }
  TextTable table(std::move(header));
  for (const std::size_t column : optional) {
    table.optional(column);
  }
  return table;
}

template <typename Row, std::size_t N>
void add_row(TextTable& table, const Column<Row> (&columns)[N],
             const std::type_identity_t<Row>& row) {
  TextTable::Cells cells;
  for (const Column<Row>& column : columns) {
    if (column.header != nullptr && column.cell != nullptr) {
      cells.push_back(column.cell(row));
    } else if (column.header != nullptr) {
      const Value value = column.value(row);
      cells.push_back(value.is_null() ? no_value : column.unit(value));
    }
  }
  table.add(std::move(cells));
}

/// The table of all rows, without columns in which none has a value; empty without rows.
template <typename Row, std::size_t N>
[[nodiscard]] std::string format_rows(const Column<Row> (&columns)[N],
                                      std::span<const std::type_identity_t<Row>> rows,
                                      TextTable table) {
  for (const Row& row : rows) {
    add_row(table, columns, row);
  }
  table.drop_empty();
  return rows.empty() ? "" : table.format();
}
template <typename Row, std::size_t N>
[[nodiscard]] std::string format_rows(const Column<Row> (&columns)[N],
                                      std::span<const std::type_identity_t<Row>> rows) {
  return format_rows(columns, rows, table_of(columns));
}

/// The columns that have a key, as an object, or added to one.
template <typename Row, std::size_t N>
[[nodiscard]] Value object_of(const Column<Row> (&columns)[N], const std::type_identity_t<Row>& row,
                              Value object = Value::object()) {
  for (const Column<Row>& column : columns) {
    if (column.key != nullptr) {
      object.at_path(column.key) = column.value(row);
    }
  }
  return object;
}

/// All rows as objects.
template <typename Row, std::size_t N>
[[nodiscard]] Value list_of(const Column<Row> (&columns)[N],
                            std::span<const std::type_identity_t<Row>> rows) {
  Value list = Value::list();
  for (const Row& row : rows) {
    list.push_back(object_of(columns, row));
  }
  return list;
}

/// The unit of what such a function shows, as the page knows it: "s", "x", "%", "B", "B/s", or
/// none.
[[nodiscard]] std::string_view unit_name(std::string (*unit)(const Value&));

/// Names and units of the columns that table and JSON share, for who shows the JSON.
template <typename Row, std::size_t N>
[[nodiscard]] Value heads_of(const Column<Row> (&columns)[N], Value heads = Value::list()) {
  for (const Column<Row>& column : columns) {
    if (column.key != nullptr && column.header != nullptr) {
      heads.push_back(
          {{"key", column.key}, {"name", column.header}, {"unit", unit_name(column.unit)}});
    }
  }
  return heads;
}

/// A list of objects as CSV (RFC 4180): one header line, one line an object, full precision. A
/// member of an object within is a column of its own, "a.b"; lists are left out, null is an empty
/// cell. Null is a list of none. The last column is the version that wrote it. Text that a
/// spreadsheet would take for a formula begins with '.
[[nodiscard]] std::string csv_of(const Value& objects);

} // namespace diffbench::bench
