// SPDX-License-Identifier: Apache-2.0
#include "verb_manual.hpp"

#include <algorithm>
#include <utility>

namespace diffbench::bench {

namespace {

std::vector<OptionList::Option> options_of(const Verb& verb, bool is_program) {
  OptionList list;
  // Holds what the options refer to; nothing is read here, so it may go.
  const Action action = verb.declare != nullptr ? verb.declare(list) : Action();
  list.group("Common");
  for (const CommonFlag& flag : {quiet_flag, wide_flag, help_flag}) {
    list.flag(flag.name, flag.help);
  }
  if (is_program) {
    list.flag(version_flag.name, version_flag.help);
  }
  std::vector<OptionList::Option> options = std::move(list.options());
  std::erase_if(options, [](const OptionList::Option& option) {
    return option.kind == OptionList::Kind::check;
  });
  for (OptionList::Option& option : options) {
    option.read = nullptr;
  }
  return options;
}

void add(std::vector<VerbManual>& manual, const std::string& path, const Verb& verb) {
  manual.push_back({.path = path, .verb = &verb, .options = options_of(verb, path.empty())});
  if (verb.verbs != nullptr) {
    for (const Verb& inner : verb.verbs()) {
      add(manual, (path.empty() ? "" : path + " ") + std::string(inner.name), inner);
    }
  }
}

} // namespace

std::string VerbManual::name(char separator) const {
  std::string name = "diffbench" + (path.empty() ? "" : " " + path);
  std::ranges::replace(name, ' ', separator);
  return name;
}

std::vector<VerbManual> manual_of(const Verb& program) {
  std::vector<VerbManual> manual;
  add(manual, "", program);
  return manual;
}

std::vector<std::string> names_of(const OptionList::Option& option) {
  const std::size_t comma = option.name.find(',');
  return comma == std::string::npos
             ? std::vector{option.name}
             : std::vector{option.name.substr(0, comma), option.name.substr(comma + 1)};
}

bool is_positional(const OptionList::Option& option) { return !option.name.starts_with('-'); }

bool is_repeated(const OptionList::Option& option) {
  return option.kind == OptionList::Kind::values || option.kind == OptionList::Kind::files;
}

} // namespace diffbench::bench
