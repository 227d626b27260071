// SPDX-License-Identifier: Apache-2.0
#include "plain_names.hpp"

#include <sstream>

namespace diffbench::bench {

namespace {

// A member of that name up to Google Benchmark 1.7, another one since 1.8.
template <typename Run>
bool skipped(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return static_cast<bool>(run.skipped);
  }
}

} // namespace

bool PlainNames::ReportContext(const Context& context) {
  reporter_.SetOutputStream(&GetOutputStream());
  // Google Benchmark warns where its library has assertions, as Debian's has. They are in none of
  // the code that is timed.
  std::ostringstream said;
  reporter_.SetErrorStream(&said);
  const bool go_on = reporter_.ReportContext(context);
  reporter_.SetErrorStream(&GetErrorStream());
  std::istringstream lines(said.str());
  for (std::string line; std::getline(lines, line);) {
    GetErrorStream() << (line.starts_with("***WARNING*** Library was built as DEBUG")
                             ? "Google Benchmark's library has assertions; the timed code is ours"
                             : line)
                     << '\n';
  }
  return go_on;
}

void PlainNames::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> plain;
  for (const Run& run : runs) {
    if (skipped(run) && run.repetition_index > 0) {
      continue;
    }
    plain.push_back(run);
    plain.back().run_name = {};
    plain.back().run_name.function_name = run.run_name.function_name;
  }
  reporter_.ReportRuns(plain);
}

} // namespace diffbench::bench
