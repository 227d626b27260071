// SPDX-License-Identifier: Apache-2.0
// The command line: whatever the arguments are, parse_options returns or throws one of our errors
// with a message, and never exits. The input is split at line ends into arguments.
#include "command_line.hpp"
#include "comparison.hpp"
#include "diffbench/errors.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

// No argument of a program can hold a NUL.
constexpr std::string_view separators("\n\0", 2);

diffbench::bench::ComparisonOptions comparison; // as the command line gives it

diffbench::bench::Action declare_comparison_only(diffbench::bench::OptionList& options) {
  declare_comparison(options, comparison = {});
  return {};
}

/// What the comparison promises of everything that it accepts.
bool holds(const diffbench::bench::ComparisonOptions& options) {
  return options.problem.nx >= diffbench::min_extent &&
         options.problem.ny >= diffbench::min_extent && options.iterations >= 1 &&
         options.session.threads >= 0 && options.session.threads <= diffbench::max_threads &&
         options.budget_seconds > 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    arguments.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  try {
    diffbench::bench::Verb program = diffbench::bench::program();
    program.declare = declare_comparison_only;
    (void)diffbench::bench::parse_options(arguments, program);
    if (!holds(comparison)) {
      std::abort();
    }
  } catch (const diffbench::Error& error) {
    if (std::string_view(error.what()).empty()) {
      std::abort();
    }
  }
  return 0;
}
