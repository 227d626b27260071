#include "options.hpp"

#include "diffbench/errors.hpp"
#include "option_groups.hpp"
#include "option_values.hpp"
#include "version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace diffbench::bench {

namespace {

constexpr const char* footer = R"(Example:
  diffbench --grid 640 --iters 1000                     all backends, verified, then timed
  diffbench --grid 640 --iters 1000 --pinned            the same, GPU copies page-locked
  diffbench --grid 8192 --backend simd --json out.json  one backend, results kept
  diffbench --backend simd --peer numpy --baseline peer:numpy

Exit codes:
  0 ok   1 error   2 wrong usage or input   3 a result is not the reference's
  4 a backend, device, instruction set or peer asked for by name is not available
  5 compare --fail-on found a regression
  130 interrupted)";

/// The groups in the order of the help, which is also the order in which mistakes are reported.
struct Groups {
  ProblemGroup problem;
  RunGroup run;
  GpuGroup gpu;
  OutputGroup output;
  bool version = false;

  void declare(CLI::App& app) {
    problem.declare(app);
    run.declare(app);
    gpu.declare(app);
    output.declare(app);
    declare_flag(app, "--version", version, "print the version and exit");
  }

  [[nodiscard]] Options read() const {
    Options options;
    problem.read(options);
    run.read(options);
    gpu.read(options);
    output.read(options);
    return options;
  }
};

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

/// Those before a verb would do nothing.
void refuse_options_of_comparison(const CLI::App& app, const std::string& verb) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) {
      throw InvalidInput(
          fmt::format("{} is an option of the comparison, not of {} (see diffbench {} --help)",
                      option->get_name(), verb, verb));
    }
  }
}

using ParsedVerbs = std::vector<std::pair<CLI::App*, Action>>;

/// Declares the verbs of a table below `app`, and those behind them.
void declare_verbs(CLI::App& app, std::span<const Subcommand> table, ParsedVerbs& verbs) {
  for (const Subcommand& verb : table) {
    CLI::App* sub = app.add_subcommand(std::string(verb.name), std::string(verb.description));
    sub->footer(fmt::format("Example:\n  {}", verb.example));
    if (verb.verbs != nullptr) {
      declare_verbs(*sub, verb.verbs(), verbs);
      sub->require_subcommand(1);
    } else {
      verbs.emplace_back(sub, verb.declare(*sub));
    }
  }
}

/// The command whose help has what the parser missed: of the innermost verb that was named.
std::string help_command(const CLI::App& app) {
  std::string command = "diffbench";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  return command + " --help";
}

/// What the parser says, in words that a user knows.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::vector<std::string> left = app.remaining(true);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !left.empty()) {
    return left.back() + ": there is no such verb";
  }
  const std::size_t at = text.find(": At Most 1 required");
  return at == std::string::npos ? text : text.substr(0, at) + ": is given more than once";
}

} // namespace

ParsedCommand parse_options(std::span<const std::string> arguments) {
  refuse_empty_values(arguments);
  CLI::App app(
      "Compares backends that solve the 2D diffusion equation: all must give the same "
      "bits, then they are timed.",
      "diffbench");
  app.footer(footer);
  app.set_help_flag("-h,--help", "print this and exit");
  app.get_formatter()->column_width(34);
  Groups groups;
  groups.declare(app);
  app.require_subcommand(0, 1);
  ParsedVerbs verbs;
  declare_verbs(app, subcommands(), verbs);

  const std::string command = fmt::format("diffbench {}", fmt::join(arguments, " "));
  // CLI11 takes the arguments from the back of the vector.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return Text{app.help()};
  } catch (const CLI::ParseError& error) {
    throw InvalidInput(fmt::format("{} (see {})", complaint(app, error), help_command(app)));
  }
  if (groups.version) {
    return Text{version_text() + "\n"};
  }
  for (const auto& [sub, action] : verbs) {
    if (sub->parsed()) {
      refuse_options_of_comparison(app, sub->get_name());
      return Verb{action, command};
    }
  }
  Options options = groups.read();
  options.command = command;
  return options;
}

} // namespace diffbench::bench
