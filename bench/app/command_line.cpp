#include "command_line.hpp"

#include "diffbench/errors.hpp"
#include "option_list.hpp"
#include "version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <list>
#include <string>
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
    option.typed = texts;
    return true;
  };
  CLI::Option* const added =
      app.add_option(option.name, keep, option.help)->type_name(option.type)->group(option.group);
  if (option.kind != Kind::value) {
    added->expected(1, CLI::detail::expected_max_vector_size);
  }
  if (option.kind == Kind::values) {
    added->delimiter(',');
  }
  if (option.kind == Kind::files) {
    added->allow_extra_args();
  } else {
    added->check(refuse_option);
  }
}

/// The program and the verbs that are named, from the outer to the inner: what the parser has not
/// met is not declared.
class CommandLine {
 public:
  explicit CommandLine(const Subcommand& program)
      : app_(std::string(program.description), std::string(program.name)) {
    app_.set_help_flag("-h,--help", "print this and exit");
    app_.get_formatter()->column_width(34);
    app_.add_flag("--version", version_, "print the version and exit");
    declare(app_, program);
  }
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// What it asks for besides; empty for a verb.
  std::string parse(std::vector<std::string> arguments) {
    std::ranges::reverse(arguments); // CLI11 takes them from the back
    try {
      app_.parse(arguments);
    } catch (const CLI::CallForHelp&) {
      return app_.help();
    } catch (const CLI::ParseError& error) {
      throw InvalidInput(fmt::format("{} (see {} --help)", complaint(error), verb()));
    }
    return version_ ? version_text() + "\n" : "";
  }

  [[nodiscard]] bool on_ranks() const { return declared_.back().on_ranks; }

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
    return named.action;
  }

 private:
  struct Declared {
    explicit Declared(CLI::App* parser) : app(parser) {}

    CLI::App* app;
    OptionList options = {};
    Action action = {};
    bool on_ranks = false;
  };

  void declare(CLI::App& app, const Subcommand& verb) {
    Declared& here = declared_.emplace_back(&app);
    here.on_ranks = verb.on_ranks;
    app.footer(fmt::format("Example:\n  {}", verb.example));
    if (verb.declare != nullptr) {
      here.action = verb.declare(here.options);
    }
    for (OptionList::Option& option : here.options.options()) {
      if (option.kind != OptionList::Kind::check) {
        add_option(app, option);
      }
    }
    if (verb.verbs != nullptr) {
      app.require_subcommand(verb.declare != nullptr ? 0 : 1, 1);
      for (const Subcommand& inner : verb.verbs()) {
        CLI::App* const below =
            app.add_subcommand(std::string(inner.name), std::string(inner.description));
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

  /// What the parser says, in words that a user knows.
  [[nodiscard]] std::string complaint(const CLI::ParseError& error) const {
    const std::string text = error.what();
    const std::vector<std::string> left = app_.remaining(true);
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !left.empty()) {
      return left.back() + ": there is no such verb";
    }
    const std::size_t at = text.find(": At Most 1 required");
    return at == std::string::npos ? text : text.substr(0, at) + ": is given more than once";
  }

  CLI::App app_;
  bool version_ = false;
  std::list<Declared> declared_; // a list: the parser points into it
};

} // namespace

ParsedCommand parse_options(std::span<const std::string> arguments, const Subcommand& program) {
  refuse_empty_values(arguments);
  CommandLine line(program);
  if (std::string text = line.parse({arguments.begin(), arguments.end()}); !text.empty()) {
    return Text{std::move(text)};
  }
  return Verb{line.read(), fmt::format("diffbench {}", fmt::join(arguments, " ")), line.on_ranks()};
}

} // namespace diffbench::bench
