// SPDX-License-Identifier: Apache-2.0
// CSV (RFC 4180) as spreadsheets, pandas and R write it, read by libcsv.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace diffbench::mlp {

struct CsvRecord {
  std::int64_t line = 0; ///< where it begins, from 1
  char separator = ',';  ///< of the whole text
  std::vector<std::string> fields = {};
  bool ended = true; ///< false: its last field is still open
};

/// Each record of `text`, empty lines left out, and with `comments` those that begin with #. Fields
/// stand between commas, semicolons or tabs, which the first two lines tell; in quotes they hold
/// separators, line ends and doubled quotes, else blanks round them are left out. Lines end with
/// LF, CR LF or CR; a byte order mark may come first. Throws InvalidInput for UTF-16 and for quotes
/// that are never closed or stand within a field.
void each_csv_record(std::string text, bool comments, const std::function<void(CsvRecord&)>& take);

} // namespace diffbench::mlp
