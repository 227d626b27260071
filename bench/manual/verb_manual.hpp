// SPDX-License-Identifier: Apache-2.0
// What the manual is made of: the program and its verbs, with all options that they declare.
#pragma once

#include "command_line.hpp"
#include "option_list.hpp"

#include <string>
#include <vector>

namespace diffbench::bench {

struct VerbManual {
  std::string path; ///< behind the program's name: "mlp train"; empty for the program itself
  const Verb* verb = nullptr;
  /// Those that it declares, and behind them what every verb has. Only to be described, not read.
  std::vector<OptionList::Option> options = {};

  /// "diffbench mlp train", or with dashes, as its page is called.
  [[nodiscard]] std::string name(char separator = ' ') const;
};

/// The program, and its verbs as they stand in the tables, each before those behind it.
[[nodiscard]] std::vector<VerbManual> manual_of(const Verb& program);

/// "-o" and "--out" of "-o,--out".
[[nodiscard]] std::vector<std::string> names_of(const OptionList::Option& option);
/// Given without a name.
[[nodiscard]] bool is_positional(const OptionList::Option& option);
/// May stand several times.
[[nodiscard]] bool is_repeated(const OptionList::Option& option);

} // namespace diffbench::bench
