// SPDX-License-Identifier: Apache-2.0
#include "completion.hpp"

#include "diffbench/known_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace diffbench::bench {

namespace {

using Option = OptionList::Option;

enum class Files { none, any, directories };

/// What its value may be besides its choices.
Files files_of(const Option& option) {
  if (option.type.find("FILE") != std::string::npos) {
    return Files::any;
  }
  return option.type == "DIR" ? Files::directories : Files::none;
}

/// Within single quotes.
std::string in_quotes(std::string_view text) {
  std::string result;
  for (const char character : text) {
    result += character == '\'' ? "'\\''" : std::string(1, character);
  }
  return "'" + result + "'";
}

std::vector<std::string> verbs_of(const VerbManual& verb) {
  const auto verbs = verb.verb->verbs;
  return names_in(verbs != nullptr ? verbs() : std::span<const Verb>{});
}

/// The branches of a `case` on what was found so far and the next word: `case "$verb $word" in`.
std::string verb_branches(const std::vector<VerbManual>& manual, std::string_view word) {
  std::string patterns;
  for (const VerbManual& verb : manual) {
    if (!verb.path.empty()) {
      const bool is_inner = verb.path.find(' ') != std::string::npos;
      patterns += (patterns.empty() ? "" : " | ") + in_quotes((is_inner ? "" : " ") + verb.path);
    }
  }
  return fmt::format(
      "      {}) verb=\"${{verb:+$verb }}{}\" ;;\n"
      "      ' help' | *' --quiet') ;;\n"
      "      *) break ;;\n",
      patterns, word);
}

// --- bash
// -----------------------------------------------------------------------------------------

/// The branch of `case "$before"` for what follows the option; empty for a flag.
std::string bash_value(const Option& option) {
  if (option.kind == OptionList::Kind::flag || is_positional(option)) {
    return "";
  }
  std::string offer;
  if (!option.choices.empty()) {
    offer += fmt::format(" words={}", in_quotes(fmt::format("{}", fmt::join(option.choices, " "))));
  }
  if (files_of(option) != Files::none) {
    offer += files_of(option) == Files::any ? " files=default" : " files=dirnames";
  }
  return fmt::format("        {}) words=''{} ;;\n", fmt::join(names_of(option), " | "), offer);
}

std::string bash_verb(const VerbManual& verb) {
  std::vector<std::string> words = verbs_of(verb);
  std::string values;
  std::string files;
  for (const Option& option : verb.options) {
    if (!is_positional(option)) {
      std::ranges::copy(names_of(option), std::back_inserter(words));
    } else {
      words.insert(words.end(), option.choices.begin(), option.choices.end());
      files = files_of(option) != Files::none ? " files=default" : files;
    }
    values += bash_value(option);
  }
  return fmt::format("    {})\n      words={}{}\n      case $before in\n{}      esac\n      ;;\n",
                     in_quotes(verb.path), in_quotes(fmt::format("{}", fmt::join(words, " "))),
                     files, values);
}

// --- zsh
// ------------------------------------------------------------------------------------------

/// A part of a specification of _arguments.
std::string zsh_escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (std::string_view(":[]\\").find(character) != std::string_view::npos) {
      result += '\\';
    }
    result += character;
  }
  return result;
}

/// ":message:action", what stands for a value.
std::string zsh_value(const Option& option) {
  const std::string names = fmt::format("{}", fmt::join(option.choices, " "));
  std::string action = " ";
  if (files_of(option) != Files::none) {
    action = files_of(option) == Files::any ? "_files" : "_files -/";
  }
  if (!names.empty()) {
    const std::string choose = option.kind == OptionList::Kind::values
                                   ? "_sequence compadd - " + names
                                   : "compadd - " + names;
    action =
        action == " " ? fmt::format("{{{}}}", choose) : fmt::format("{{{}; {}}}", choose, action);
  }
  return fmt::format(":{}:{}", zsh_escaped(option.type), action);
}

std::string zsh_option(const Option& option) {
  if (is_positional(option)) {
    return "      " + in_quotes((is_repeated(option) ? "*" : "") + zsh_value(option)) + "\n";
  }
  std::string text;
  const std::vector<std::string> names = names_of(option);
  for (const std::string& name : names) {
    // Given once, neither name is offered again.
    const std::string others =
        is_repeated(option) ? "*" : fmt::format("({})", fmt::join(names, " "));
    text += "      " +
            in_quotes(fmt::format("{}{}[{}]{}{}", others, name, zsh_escaped(option.help),
                                  option.may_lack ? ":" : "",
                                  option.kind == OptionList::Kind::flag ? "" : zsh_value(option))) +
            "\n";
  }
  return text;
}

std::string zsh_verb(const VerbManual& verb) {
  std::string text = fmt::format("    {})\n      specifications=(\n", in_quotes(verb.path));
  for (const Option& option : verb.options) {
    text += zsh_option(option);
  }
  text += "      )\n";
  if (verb.verb->verbs != nullptr) {
    text += "      verbs=(\n";
    for (const Verb& inner : verb.verb->verbs()) {
      text += "      " + in_quotes(fmt::format("{}:{}", inner.name, inner.description)) + "\n";
    }
    text += "      )\n";
  }
  return text + "      ;;\n";
}

} // namespace

std::string bash_completion(const std::vector<VerbManual>& manual) {
  std::string text = R"(# Completion of diffbench for bash, made from the program's declarations.
_diffbench() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local verb='' words='' files='' done='' i
  # --option=value comes as three words.
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$verb ${COMP_WORDS[i]}" in
)" + verb_branches(manual, "${COMP_WORDS[i]}") +
                     "    esac\n  done\n  case $verb in\n";
  for (const VerbManual& verb : manual) {
    text += bash_verb(verb);
  }
  return text + R"(  esac
  # The last of a list with commas.
  if [[ $word == *,* && -z $files ]]; then
    done=${word%,*},
    word=${word##*,}
  fi
  mapfile -t COMPREPLY < <(compgen -P "$done" -W "$words" -- "$word")
  [[ -z $files ]] || ((${#COMPREPLY[@]})) || compopt -o "$files"
}
complete -F _diffbench diffbench
)";
}

std::string zsh_completion(const std::vector<VerbManual>& manual) {
  std::string text = R"(#compdef diffbench
# Completion of diffbench for zsh, made from the program's declarations.
_diffbench() {
  local verb=''
  local -a specifications verbs
  local -i i
  for ((i = 2; i < CURRENT; i++)); do
    case "$verb $words[i]" in
)" + verb_branches(manual, "$words[i]") +
                     "    esac\n  done\n  case $verb in\n";
  for (const VerbManual& verb : manual) {
    text += zsh_verb(verb);
  }
  return text + R"(  esac
  # What follows the verb is a command line of its own.
  words=(diffbench "${(@)words[i,-1]}")
  ((CURRENT -= i - 2))
  (($#verbs)) && specifications+=('1:verb:{_describe verb verbs}')
  _arguments $specifications
}
_diffbench "$@"
)";
}

} // namespace diffbench::bench
