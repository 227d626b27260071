// SPDX-License-Identifier: Apache-2.0
#include "completion.hpp"

#include "command_line.hpp"
#include "option_list.hpp"

#include <algorithm>
#include <iterator>

namespace diffbench::bench {

namespace {

/// "-o" and "--out" of "-o,--out"; nothing of what is given without a name.
std::vector<std::string> names_of(std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; name.starts_with('-') && begin <= name.size();) {
    const std::size_t end = std::min(name.find(',', begin), name.size());
    names.emplace_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

} // namespace

std::vector<std::string> completions(std::span<const std::string> words, const Verb& program) {
  std::vector<std::string> typed(words.begin(), words.end());
  const bool begins_value = !typed.empty() && typed.back() == "=";
  std::erase(typed, "="); // --option=value comes as three words
  if (typed.empty() || begins_value) {
    typed.emplace_back();
  }
  const std::string last = typed.back();
  typed.pop_back();

  const Verb* verb = &program;
  for (const std::string& word : typed) {
    const auto verbs = verb->verbs != nullptr ? verb->verbs() : std::span<const Verb>();
    const auto inner = std::ranges::find(verbs, word, &Verb::name);
    verb = inner != verbs.end() ? &*inner : verb;
  }
  OptionList list;
  // Holds what the options refer to; nothing is read here, so it may go.
  const Action action = verb->declare != nullptr ? verb->declare(list) : Action();
  for (const CommonFlag& flag : {quiet_flag, wide_flag, help_flag}) {
    list.flag(flag.name, flag.help);
  }
  std::vector<std::string> offered;
  std::size_t value_begins = 0;
  for (const Verb& inner : verb->verbs != nullptr ? verb->verbs() : std::span<const Verb>()) {
    offered.emplace_back(inner.name);
  }
  for (const OptionList::Option& option : list.options()) {
    const std::vector<std::string> names = names_of(option.name);
    if (option.kind != OptionList::Kind::flag && !typed.empty() &&
        std::ranges::find(names, typed.back()) != names.end()) {
      offered = option.choices;
      value_begins = option.kind == OptionList::Kind::values ? last.rfind(',') + 1 : 0;
      break;
    }
    std::ranges::copy(names.empty() ? option.choices : names, std::back_inserter(offered));
  }
  std::erase_if(offered, [&](std::string& name) {
    name.insert(0, last, 0, value_begins);
    return !name.starts_with(last);
  });
  return offered;
}

} // namespace diffbench::bench
