// SPDX-License-Identifier: Apache-2.0
// The options of a verb, each declared once: name, the field that it sets, limits, help. What was
// typed stays text until read(), so that every message names option, text and limits in the same
// way, and mistakes are reported in the order of the help. The parser is app/command_line.cpp's.
#pragma once

#include "diffbench/errors.hpp"
#include "diffbench/name_table.hpp"
#include "diffbench/text.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

struct Limits {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
/// More than anybody can wait for.
inline constexpr Limits iteration_limits{1, 1'000'000'000'000};

/// Throws InvalidInput for what is no number, or out of its limits.
[[nodiscard]] std::int64_t parse_integer(std::string_view option, std::string_view text,
                                         Limits limits);
/// The same for what is not finite.
[[nodiscard]] double parse_real(std::string_view option, std::string_view text);
/// "5%" as 0.05; above 0, up to 1000 %.
[[nodiscard]] double parse_percent(std::string_view option, std::string_view text);

/// What `parse` makes of the text; its message then begins with the option's name.
template <typename Parse>
[[nodiscard]] auto parse_as(std::string_view option, const std::string& text, Parse parse) {
  try {
    return parse(text);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", option, error.what()));
  }
}

/// "periodic (default), dirichlet or neumann".
[[nodiscard]] std::string one_of(const std::vector<std::string>& names, std::string_view usual);
/// `help` with the limits and the default behind it, where there are any.
[[nodiscard]] std::string described(std::string_view help, std::string_view limits,
                                    std::string_view otherwise);
/// "1 to 4096"
[[nodiscard]] std::string to_string(Limits limits);

/// Declarations keep references to what they set. `usage` is the name, and behind a space what
/// stands for the value in the help: "--grid N|NXxNY"; without dashes it is for what is given
/// without a name. `otherwise` is the default in words where the target's value does not say it.
class OptionList {
 public:
  using Read = std::function<void(std::string_view option, const std::string& text)>;
  /// The files that come and go with the one at `path`.
  using Companions =
      std::function<std::vector<std::filesystem::path>(const std::filesystem::path& path)>;
  enum class Kind {
    flag,
    value,
    values, ///< may be repeated, or hold several with commas between
    files,  ///< as many as are given; commas are part of a name
    check   ///< no option
  };
  struct Option {
    Kind kind;
    std::string group, name, type, help;
    Read read;
    std::vector<std::string> typed = {};        ///< a flag that was given has one text
    Companions companions = {};                 ///< of a file
    std::string replaces = {};                  ///< the option whose file it may take the place of
    const OutputKind* kind_of_output = nullptr; ///< of a file that is written, whose name this
    const std::string* output = nullptr;        ///< holds, also where none was typed
    bool may_lack = false;                      ///< its value
  };

  OptionList() = default;
  OptionList(const OptionList&) = delete;
  OptionList& operator=(const OptionList&) = delete;

  /// The help shows what is declared from here on under `title`.
  void group(std::string title) { group_ = std::move(title); }

  void flag(std::string_view name, std::string_view help); ///< for given()
  void flag(std::string_view name, bool& target, std::string_view help);
  void clearing_flag(std::string_view name, bool& target, std::string_view help);
  void text(std::string_view usage, std::string& target, std::string_view help);
  void texts(std::string_view usage, std::vector<std::string>& target, std::string_view help);
  void files(std::string_view usage, std::vector<std::string>& target, std::string_view help);
  /// A file that is written. No other option's or argument's file is replaced by it, nor one that
  /// is not of this kind: read() refuses that.
  void output(std::string_view usage, std::string& target, const OutputKind& kind,
              std::string_view help);
  /// Any finite one.
  void real(std::string_view usage, double& target, std::string_view help);
  /// From 0.
  void amount(std::string_view usage, double& target, std::string_view help,
              std::string_view otherwise = {});
  void percent(std::string_view usage, double& target, std::string_view help);

  template <typename Integer>
  void integer(std::string_view usage, Integer& target, Limits limits, std::string_view help,
               std::string_view otherwise = {}) {
    const bool is_default = otherwise.empty() && target >= limits.low;
    value(usage,
          described(help, to_string(limits), is_default ? fmt::to_string(target) : otherwise),
          [&target, limits](std::string_view option, const std::string& text) {
            target = static_cast<Integer>(parse_integer(option, text, limits));
          });
  }
  template <typename Integer>
  void integers(std::string_view usage, std::vector<Integer>& target, Limits limits,
                std::string_view help, std::string_view otherwise) {
    values(usage, described(help, to_string(limits), otherwise),
           [&target, limits](std::string_view option, const std::string& text) {
             target.push_back(static_cast<Integer>(parse_integer(option, text, limits)));
           });
  }
  template <typename Target, typename Parse>
  void parsed(std::string_view usage, Target& target, std::string_view help, Parse parse) {
    value(usage, help, [&target, parse](std::string_view option, const std::string& text) {
      target = parse_as(option, text, parse);
    });
  }
  /// One of an enumeration's names; `target` holds the default.
  template <typename Enum, std::size_t count>
  void named(std::string_view usage, Enum& target, const NameTable<Enum, count>& table) {
    parsed(usage, target, one_of(table.names(), table.name(target)),
           [&table](const std::string& text) { return table.parse(text); });
  }
  /// `read` is given each text that was typed. Throws InvalidInput or Unavailable.
  void value(std::string_view usage, std::string_view help, Read read);
  void values(std::string_view usage, std::string_view help, Read read);

  /// The last declared option may be given without a value, which then is an empty text.
  void value_may_lack() { options_.back().may_lack = true; }

  /// The last declared option's file has `companions`, and may take the place of the one that
  /// `replaces` names.
  void companions(Companions companions, std::string replaces) {
    options_.back().companions = std::move(companions);
    options_.back().replaces = std::move(replaces);
  }

  /// What read() calls when it is here: for options that contradict each other.
  void check(std::function<void()> refuse);
  /// Refuses the option, once all is read, where it was given and `heeded` says that nothing heeds
  /// it; the message names `what` it needs.
  void needs(std::string_view name, std::string_view what, std::function<bool()> heeded);
  /// A line for stderr before the verb's work, where `make` has one once all is read.
  void hint(std::function<std::string()> make) { hints_.push_back(std::move(make)); }
  [[nodiscard]] std::vector<std::string> hints() const;
  /// The options of `other`, which are typed here and read there.
  void add(OptionList& other);

  [[nodiscard]] bool declares(std::string_view name) const;
  [[nodiscard]] bool given(std::string_view name) const;
  /// The names of those that were given; of all groups without one.
  [[nodiscard]] std::vector<std::string> given_names(std::string_view group = {}) const;
  /// As if the command line had it so.
  void type(std::string_view name, std::vector<std::string> texts);
  [[nodiscard]] std::vector<Option>& options() { return options_; }

  /// Sets the targets of all options that were given. Throws what their readers do, what
  /// check_writable_file() does of outputs, and InvalidInput where one is another option's file, or
  /// an option has no effect.
  void read() const;
  /// Sets the targets, and looks at neither effects nor files.
  void read_values() const;
  /// A message for each option that has no effect with what was read.
  [[nodiscard]] std::vector<std::string> without_effect() const;

 private:
  void add(Kind kind, std::string_view usage, std::string_view help, Read read);
  void check_files() const;

  struct Need {
    std::string name, what;
    std::function<bool()> heeded;
  };
  std::vector<Need> needs_;
  std::string group_ = "Options";
  std::vector<Option> options_;
  std::vector<std::function<std::string()>> hints_;
};

} // namespace diffbench::bench
