// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "option_list.hpp"
#include "output.hpp"
#include "text_width.hpp"
#include "version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <list>
#include <utility>
#include <vector>

namespace diffbench::bench {

namespace {

/// CLI11 cannot tell an option that was not given from one given as "": the latter is a mistake
/// such as an unset variable of a script.
void refuse_empty_values(std::span<const std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].empty()) {
      throw InvalidInput(i == 0 ? std::string("an empty argument")
                                : fmt::format("{}: the value is empty", arguments[i - 1]));
    }
  }
}

/// CLI11 takes whatever comes next for a value: `--json --no-progress` would write a file of that
/// name.
std::string refuse_option(const std::string& value) {
  return value.starts_with("--") ? "the value is missing before " + value : "";
}

/// Whether it is an option of `diffbench run` (app/long_run_options.cpp).
bool is_of_run(const Verb& program, std::string_view option) {
  const auto verbs = program.verbs != nullptr ? program.verbs() : std::span<const Verb>{};
  const auto run = std::ranges::find(verbs, "run", &Verb::name);
  OptionList list;
  const Action holds_what_is_set = run != verbs.end() ? run->declare(list) : Action();
  return list.declares(option);
}

std::vector<std::string> verbs_of(const Verb& verb) {
  return names_in(verb.verbs != nullptr ? verb.verbs() : std::span<const Verb>{});
}

/// At the commas. (The parser's own way would lose an empty value without a word.)
std::vector<std::string> split(const std::string& option, const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t comma = std::min(text.find(',', begin), text.size());
      if (comma == begin) {
        throw CLI::ValidationError(fmt::format("{} {}", option, text),
                                   "a value between the commas is empty");
      }
      values.push_back(text.substr(begin, comma - begin));
      begin = comma + 1;
    }
  }
  return values;
}

/// Makes the parser keep what is typed; `option` stays where it is.
void add_option(CLI::App& app, OptionList::Option& option) {
  using Kind = OptionList::Kind;
  if (option.kind == Kind::flag) {
    app.add_flag_callback(
           option.name, [&option] { option.typed = {""}; }, option.help)
        ->group(option.group);
    return;
  }
  const auto keep = [&option](const CLI::results_t& texts) {
    option.typed = option.kind == OptionList::Kind::values ? split(option.name, texts) : texts;
    if (option.kind == OptionList::Kind::value && texts.size() > 1) {
      throw CLI::ValidationError(option.name, "is given more than once");
    }
    return true;
  };
  CLI::Option* const added = app.add_option(option.name, keep, option.help)
                                 ->type_name(option.type)
                                 ->group(option.group)
                                 ->take_all();
  if (option.kind != Kind::value) {
    added->expected(1, CLI::detail::expected_max_vector_size);
  }
  if (option.may_lack) {
    added->expected(0, 1);
  }
  if (option.kind == Kind::files) {
    added->allow_extra_args();
  } else {
    added->check(refuse_option);
  }
}

/// The verb whose option `--` holds all that comes after it.
constexpr std::string_view rest_taker = "try";

/// The program and the verbs that are named, from the outer to the inner: what the parser has not
/// met is not declared.
class CommandLine {
 public:
  explicit CommandLine(const Verb& program)
      : app_(std::string(program.description), std::string(program.name)) {
    app_.set_help_flag(help_flag.name, help_flag.help);
    app_.get_formatter()->column_width(34);
    app_.add_flag(version_flag.name, version_, version_flag.help);
    declare(app_, program);
  }
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// What it asks for besides; empty for a verb.
  std::string parse(std::vector<std::string> arguments) {
    std::vector<std::string> rest; // what a verb hands to a program
    if (const auto dashes = std::ranges::find(arguments, "--");
        dashes != arguments.end() && arguments.front() == rest_taker) {
      rest.assign(std::next(dashes), arguments.end());
      arguments.erase(dashes, arguments.end());
    }
    std::ranges::reverse(arguments); // CLI11 takes them from the back
    try {
      app_.parse(arguments);
    } catch (const CLI::CallForHelp&) {
      if (!app_.remaining(true).empty()) {
        throw InvalidInput(fmt::format("{} (see {} --help)", not_expected(), verb()));
      }
      return app_.help();
    } catch (const CLI::ParseError& error) {
      throw InvalidInput(fmt::format("{} (see {} --help)", complaint(error), verb()));
    }
    if (!rest.empty()) {
      declared_.back().options.type("--", std::move(rest));
    }
    return version_ ? version_text() + "\n" : "";
  }

  [[nodiscard]] bool on_ranks() const { return declared_.back().verb->on_ranks; }
  [[nodiscard]] bool quiet() const { return quiet_; }

  /// What the verb does, its options read.
  [[nodiscard]] Action read() const {
    const Declared& named = declared_.back();
    const Declared& comparison = declared_.front();
    // Those before a verb would do nothing.
    if (const auto given = comparison.options.given_names();
        &named != &comparison && !given.empty()) {
      throw InvalidInput(fmt::format("{} is an option of the comparison, not of {} (see {} --help)",
                                     given.front(), named.app->get_name(), verb()));
    }
    named.options.read();
    return [action = named.action, hints = named.options.hints()](const Invocation& invocation) {
      for (const std::string& hint : hints) {
        tell(invocation.err, hint);
      }
      return action(invocation);
    };
  }

 private:
  struct Declared {
    Declared(CLI::App& parser, const Verb& of) : app(&parser), verb(&of) {}

    CLI::App* app;
    const Verb* verb;
    OptionList options = {};
    Action action = {};
  };

  void declare(CLI::App& app, const Verb& verb) {
    Declared& here = declared_.emplace_back(app, verb);
    app.add_flag(quiet_flag.name, quiet_, quiet_flag.help);
    app.add_flag(wide_flag.name, wide_tables, wide_flag.help);
    app.footer(fmt::format("Example:\n  {}{}{}", verb.example,
                           declared_.size() == 1 ? "\n\nExit codes:\n" : "",
                           declared_.size() == 1 ? exit_codes_text : ""));
    if (verb.declare != nullptr) {
      here.action = verb.declare(here.options);
    }
    for (OptionList::Option& option : here.options.options()) {
      if (option.kind != OptionList::Kind::check && option.name != "--") {
        add_option(app, option);
      }
    }
    if (verb.verbs != nullptr) {
      app.require_subcommand(verb.declare != nullptr ? 0 : 1, 1);
      for (const Verb& inner : verb.verbs()) {
        CLI::App* const below =
            app.add_subcommand(std::string(inner.name), std::string(inner.description))
                ->group(std::string(inner.group));
        below->preparse_callback([this, below, &inner](std::size_t) { declare(*below, inner); });
      }
    }
  }

  /// As it was called: "diffbench mlp train".
  [[nodiscard]] std::string verb() const {
    std::string names;
    for (const Declared& each : declared_) {
      names += (names.empty() ? "" : " ") + each.app->get_name();
    }
    return names;
  }

  /// Of the first argument that the named verb does not know.
  [[nodiscard]] std::string not_expected() const {
    const Declared& named = declared_.back();
    const std::string argument = app_.remaining(true).front();
    const bool is_option = argument.starts_with("-");
    const std::string name = is_option ? argument.substr(0, argument.find('=')) : argument;
    std::vector<std::string> known = verbs_of(*named.verb);
    if (is_option) {
      known.clear();
      for (const CLI::Option* option : named.app->get_options()) {
        known.push_back(option->get_name(false, false));
      }
    }
    if (is_option && declared_.size() == 1 && is_of_run(*named.verb, name)) {
      return fmt::format("{}: is an option of a long run: diffbench run {} ...", name, name);
    }
    return fmt::format("{}: {}{}", name,
                       is_option       ? "there is no such option"
                       : known.empty() ? "no argument is expected here"
                                       : "there is no such verb",
                       did_you_mean(name, known));
  }

  /// What the parser says, in words that a user knows.
  [[nodiscard]] std::string complaint(const CLI::ParseError& error) const {
    const std::string text = error.what();
    const bool verb_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const bool any_left = !app_.remaining(true).empty();
    if (any_left && (verb_missing || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)) {
      return not_expected();
    }
    if (verb_missing) {
      return fmt::format("name a verb of {}: {}", verb(),
                         fmt::join(verbs_of(*declared_.back().verb), ", "));
    }
    return dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr
               ? text.substr(0, text.find(':')) + ": the value is missing"
               : text;
  }

  CLI::App app_;
  bool version_ = false;
  bool quiet_ = false;
  std::list<Declared> declared_; // a list: the parser points into it
};

} // namespace

ParsedCommand parse_options(std::span<const std::string> arguments, const Verb& program) {
  refuse_empty_values(arguments);
  CommandLine line(program);
  std::vector<std::string> words(arguments.begin(), arguments.end());
  if (!words.empty() && words.front() == "help") { // help VERB
    std::rotate(words.begin(), words.begin() + 1, words.end());
    words.back() = "--help";
  }
  if (std::string text = line.parse(std::move(words)); !text.empty()) {
    return Text{std::move(text)};
  }
  return ParsedVerb{line.read(), fmt::format("diffbench {}", fmt::join(arguments, " ")),
                    line.on_ranks(), line.quiet()};
}

} // namespace diffbench::bench
