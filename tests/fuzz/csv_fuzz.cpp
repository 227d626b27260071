// SPDX-License-Identifier: Apache-2.0
// Any bytes as CSV: the reader hands out records of the text, in its order, or throws InvalidInput.
#include "diffbench/mlp/csv_records.hpp"
#include "promises.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using namespace diffbench;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::int64_t line = 0;
  std::size_t bytes = 0;
  try {
    mlp::each_csv_record({reinterpret_cast<const char*>(data), size}, true,
                         [&](mlp::CsvRecord& record) {
                           require(record.line > line, "each begins in a line of its own");
                           require(!record.fields.empty(), "a record has fields");
                           line = record.line;
                           for (const std::string& field : record.fields) {
                             bytes += field.size();
                           }
                         });
    require(bytes <= size, "nothing is made up");
  } catch (const InvalidInput& error) {
    fuzz::require_printable(error);
  }
  return 0;
}
