// SPDX-License-Identifier: Apache-2.0
#include "man_page.hpp"

#include "build_info.hpp"

#include <fmt/format.h>

namespace diffbench::bench {

namespace {

/// Every character as itself: man(7) would make typographic ones of quotes and dashes, which
/// cannot be copied into a shell.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    switch (character) {
      case '\\': result += "\\(rs"; break;
      case '-': result += "\\-"; break;
      case '\'': result += "\\(aq"; break;
      case '`': result += "\\(ga"; break;
      case '^': result += "\\(ha"; break;
      case '~': result += "\\(ti"; break;
      default: result += character;
    }
  }
  return text.starts_with('.') ? "\\&" + result : result;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

/// Lines that stay lines.
std::string verbatim(std::string_view text) { return fmt::format(".nf\n{}\n.fi\n", escaped(text)); }

/// "--backend NAME ..."
std::string usage_of(const OptionList::Option& option) {
  std::string usage;
  for (const std::string& name : names_of(option)) {
    usage += (usage.empty() ? "" : ", ") + (is_positional(option) ? italic(name) : bold(name));
  }
  if (!option.type.empty()) {
    usage += " " + italic(option.type);
  }
  return usage + (is_repeated(option) ? " ..." : "");
}

std::string synopsis(const VerbManual& verb) {
  std::string text = bold(verb.name()) + " [" + italic("OPTIONS") + "]";
  for (const OptionList::Option& option : verb.options) {
    if (is_positional(option)) {
      text += " " + italic(option.name) + (is_repeated(option) ? " ..." : "");
    }
  }
  if (verb.verb->verbs != nullptr) {
    text = verb.verb->declare != nullptr ? text + "\n.br\n" : "";
    text += bold(verb.name()) + " " + italic("VERB") + " [" + italic("OPTIONS") + "]";
  }
  return text + "\n";
}

std::string options_of(const VerbManual& verb) {
  std::string text;
  std::string group;
  for (const OptionList::Option& option : verb.options) {
    if (option.group != group) {
      group = option.group;
      text += fmt::format(".SS \"{}\"\n", escaped(group));
    }
    text += fmt::format(".TP\n{}\n{}\n", usage_of(option), escaped(option.help));
  }
  return text;
}

std::string verbs_of(const Verb& verb) {
  std::string text = ".SH VERBS\n";
  std::string_view group;
  for (const Verb& inner : verb.verbs()) {
    if (inner.group != group && inner.group != Verb{}.group) {
      group = inner.group;
      text += fmt::format(".SS \"{}\"\n", escaped(group));
    }
    text += fmt::format(".TP\n{}\n{}\n", bold(inner.name), escaped(inner.description));
  }
  return text;
}

/// Whether `outer` comes right before `inner`, as "mlp" before "mlp train".
bool is_behind(const VerbManual& inner, const VerbManual& outer) {
  const std::size_t space = inner.path.rfind(' ');
  return !inner.path.empty() &&
         outer.path == inner.path.substr(0, space == std::string::npos ? 0 : space);
}

std::string see_also(const VerbManual& verb, const std::vector<VerbManual>& manual) {
  std::string text;
  for (const VerbManual& other : manual) {
    if (is_behind(verb, other) || is_behind(other, verb)) {
      text += (text.empty() ? ".SH \"SEE ALSO\"\n" : ",\n") + bold(other.name('-')) + "(1)";
    }
  }
  return text + "\n";
}

} // namespace

std::string man_page(const VerbManual& verb, const std::vector<VerbManual>& manual) {
  std::string text = fmt::format(
      ".TH \"{}\" 1 \"\" \"diffbench {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
      escaped(verb.name('-')), escaped(build_info::version), escaped(verb.name('-')),
      escaped(verb.verb->description));
  text += synopsis(verb) + ".SH OPTIONS\n" + options_of(verb);
  if (verb.verb->verbs != nullptr) {
    text += verbs_of(*verb.verb);
  }
  text += ".SH EXAMPLES\n" + verbatim("  " + std::string(verb.verb->example)) +
          ".SH \"EXIT STATUS\"\n" + verbatim(exit_codes_text) + see_also(verb, manual);
  return text;
}

} // namespace diffbench::bench
