// SPDX-License-Identifier: Apache-2.0
#include "plain_names.hpp"

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
  reporter_.SetErrorStream(&GetErrorStream());
  return reporter_.ReportContext(context);
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
