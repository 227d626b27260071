// SPDX-License-Identifier: Apache-2.0
#include "option_list.hpp"

#include "diffbench/known_names.hpp"
#include "output.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <system_error>
#include <utility>

namespace diffbench::bench {

std::int64_t parse_integer(std::string_view option, std::string_view text, Limits limits) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < limits.low || *number > limits.high) {
    throw InvalidInput(fmt::format("{} {}: give a whole number from {} to {}", option, text,
                                   limits.low, limits.high));
  }
  return *number;
}

double parse_real(std::string_view option, std::string_view text) {
  const auto number = parse_number<double>(text);
  if (!number || !std::isfinite(*number)) {
    throw InvalidInput(fmt::format("{} {}: give a finite number such as 0.1", option, text));
  }
  return *number;
}

double parse_percent(std::string_view option, std::string_view text) {
  const bool has_sign = text.ends_with('%');
  const auto number = parse_number<double>(has_sign ? text.substr(0, text.size() - 1) : text);
  if (!has_sign || !number || !(*number > 0 && *number <= 1000)) {
    throw InvalidInput(
        fmt::format("{} {}: give percent above 0, up to 1000, such as 5%", option, text));
  }
  return *number / 100;
}

std::string described(std::string_view help, std::string_view limits, std::string_view otherwise) {
  if (limits.empty() && otherwise.empty()) {
    return std::string(help);
  }
  const bool is_number = !otherwise.empty() && otherwise.find(' ') == std::string_view::npos;
  return fmt::format("{} ({}{}{}{})", help, limits, limits.empty() || otherwise.empty() ? "" : "; ",
                     otherwise.empty() ? ""
                     : is_number       ? "default "
                                       : "default: ",
                     otherwise);
}

std::string one_of(const std::vector<std::string>& names, std::string_view usual) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
    text += names[i] == usual ? " (default)" : "";
  }
  return text;
}

std::string to_string(Limits limits) {
  std::string high = std::to_string(limits.high);
  if (high.size() > 7 && high.find_first_not_of('0', 1) == std::string::npos && high[0] == '1') {
    high = fmt::format("10^{}", high.size() - 1);
  }
  return fmt::format("{} to {}", limits.low, high);
}

void OptionList::add(Kind kind, std::string_view usage, std::string_view help, Read read) {
  const std::size_t space = std::min(usage.find(' '), usage.size());
  options_.push_back({.kind = kind,
                      .group = group_,
                      .name = std::string(usage.substr(0, space)),
                      .type = std::string(usage.substr(std::min(space + 1, usage.size()))),
                      .help = std::string(help),
                      .read = std::move(read)});
}

void OptionList::value(std::string_view usage, std::string_view help, Read read) {
  add(Kind::value, usage, help, std::move(read));
}

void OptionList::values(std::string_view usage, std::string_view help, Read read) {
  add(Kind::values, usage, help, std::move(read));
}

void OptionList::flag(std::string_view name, std::string_view help) {
  add(Kind::flag, name, help, [](std::string_view, const std::string&) {});
}

void OptionList::flag(std::string_view name, bool& target, std::string_view help) {
  add(Kind::flag, name, help, [&target](std::string_view, const std::string&) { target = true; });
}

void OptionList::clearing_flag(std::string_view name, bool& target, std::string_view help) {
  add(Kind::flag, name, help, [&target](std::string_view, const std::string&) { target = false; });
}

void OptionList::text(std::string_view usage, std::string& target, std::string_view help) {
  value(usage, described(help, "", target),
        [&target](std::string_view, const std::string& text) { target = text; });
}

void OptionList::texts(std::string_view usage, std::vector<std::string>& target,
                       std::string_view help) {
  values(usage, help,
         [&target](std::string_view, const std::string& text) { target.push_back(text); });
}

void OptionList::files(std::string_view usage, std::vector<std::string>& target,
                       std::string_view help) {
  texts(usage, target, help);
  options_.back().kind = Kind::files;
}

void OptionList::output(std::string_view usage, std::string& target, const OutputKind& kind,
                        std::string_view help) {
  text(usage, target, help);
  options_.back().kind_of_output = &kind;
  options_.back().output = &target;
}

void OptionList::real(std::string_view usage, double& target, std::string_view help) {
  value(usage, described(help, "", fmt::to_string(target)),
        [&target](std::string_view option, const std::string& text) {
          target = parse_real(option, text);
        });
}

void OptionList::amount(std::string_view usage, double& target, std::string_view help,
                        std::string_view otherwise) {
  value(usage, described(help, "from 0", otherwise.empty() ? fmt::to_string(target) : otherwise),
        [&target](std::string_view option, const std::string& text) {
          target = parse_real(option, text);
          if (target < 0) {
            throw InvalidInput(fmt::format("{} {}: give a number from 0", option, text));
          }
        });
}

void OptionList::percent(std::string_view usage, double& target, std::string_view help) {
  value(usage,
        described(help, "above 0%, up to 1000%",
                  target > 0 ? fmt::format("{:g}%", 100 * target) : ""),
        [&target](std::string_view option, const std::string& text) {
          target = parse_percent(option, text);
        });
}

void OptionList::check(std::function<void()> refuse) {
  add(Kind::check, "", "",
      [refuse = std::move(refuse)](std::string_view, const std::string&) { refuse(); });
  options_.back().typed = {""};
}

void OptionList::needs(std::string_view name, std::string_view what, std::function<bool()> heeded) {
  needs_.push_back({std::string(name), std::string(what), std::move(heeded)});
}

std::vector<std::string> OptionList::without_effect() const {
  std::vector<std::string> messages;
  for (const Need& need : needs_) {
    if (given(need.name) && !need.heeded()) {
      messages.push_back(fmt::format("{}: has no effect without {}", need.name, need.what));
    }
  }
  return messages;
}

void OptionList::add(OptionList& other) {
  for (Option& option : other.options_) {
    if (option.kind != Kind::check) {
      options_.push_back(option);
      options_.back().read = [&option](std::string_view, const std::string& text) {
        option.typed.push_back(text);
      };
    }
  }
  std::ranges::copy(other.hints_, std::back_inserter(hints_));
}

std::vector<std::string> OptionList::hints() const {
  std::vector<std::string> lines;
  for (const auto& make : hints_) {
    if (std::string line = make(); !line.empty()) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

bool OptionList::declares(std::string_view name) const {
  return std::ranges::find(options_, name, &Option::name) != options_.end();
}

bool OptionList::given(std::string_view name) const {
  return std::ranges::any_of(
      options_, [&](const Option& option) { return option.name == name && !option.typed.empty(); });
}

std::vector<std::string> OptionList::given_names(std::string_view group) const {
  return names_in(options_, [&](const Option& option) {
    return (group.empty() || option.group == group) && option.kind != Kind::check &&
           !option.typed.empty();
  });
}

void OptionList::type(std::string_view name, std::vector<std::string> texts) {
  std::ranges::find(options_, name, &Option::name)->typed = std::move(texts);
}

namespace {

namespace fs = std::filesystem;

struct NamedFile {
  const OptionList::Option* option;
  std::string typed;
  fs::path place;
  bool is_companion = false;

  [[nodiscard]] bool is_output() const { return option->output != nullptr; }
  /// Of an output.
  [[nodiscard]] std::string name() const { return option->name.substr(option->name.find("--")); }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} {}", name(), typed) +
           (is_companion ? fmt::format(" (with '{}')", place.filename().string()) : "");
  }
};

std::vector<std::string> written_by(const OptionList::Option& option) {
  return option.output == nullptr ? std::vector<std::string>()
         : !option.typed.empty()  ? option.typed
         : option.output->empty() ? std::vector<std::string>()
                                  : std::vector{*option.output};
}

/// The files that a text may name: itself, and words of it, as of a command. A name such as "block"
/// is a file only where there is one.
std::vector<std::string> read_by(const OptionList::Option& option, const std::string& text) {
  std::vector<std::string> files;
  for (const char* separators : {"", "'\"", " \t\n'\"\\=,:;|&<>()@"}) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
      const std::string word = text.substr(begin, end - begin);
      std::error_code ignored;
      if (!word.empty() &&
          (fs::exists(word, ignored) ||
           (word == text && option.type.starts_with("FILE") && word != stdout_name))) {
        files.push_back(word);
      }
      begin = end + 1;
    }
  }
  return files;
}

/// Whether an output would replace the other; a device may be read and written.
bool replaces(const NamedFile& output, const NamedFile& other) {
  std::error_code ignored; // one that is not there is not the other
  return output.option != other.option && output.option->replaces != other.option->name &&
         other.option->replaces != output.option->name &&
         (other.is_output() || !fs::is_character_file(other.place, ignored)) &&
         (output.place == other.place || fs::equivalent(output.place, other.place, ignored));
}

} // namespace

// An output that replaces another, or what the run reads, is lost work: by any path, before any.
void OptionList::check_files() const {
  std::vector<NamedFile> files;
  for (const Option& option : options_) {
    for (const std::string& text : written_by(option)) {
      files.push_back({.option = &option,
                       .typed = text,
                       .place = text == stdout_name ? fs::path(text) : place_of(text)});
      for (const auto& companion :
           option.companions ? option.companions(files.back().place) : std::vector<fs::path>()) {
        files.push_back(
            {.option = &option, .typed = text, .place = companion, .is_companion = true});
      }
    }
    for (const std::string& text :
         option.output == nullptr ? option.typed : std::vector<std::string>()) {
      for (const std::string& file : read_by(option, text)) {
        files.push_back({.option = &option, .typed = file, .place = place_of(file)});
      }
    }
  }
  for (const NamedFile& output : files) {
    if (!output.is_output()) {
      continue;
    }
    const auto other =
        std::ranges::find_if(files, [&](const NamedFile& file) { return replaces(output, file); });
    if (other != files.end() && other->is_output()) {
      throw InvalidInput(fmt::format("{} and {}: two outputs cannot go to the same place",
                                     output.text(), other->text()));
    }
    if (other != files.end()) {
      throw InvalidInput(fmt::format("{}: is also an input; give another name", output.text()));
    }
  }
  for (const NamedFile& output : files) {
    // Hidden ones are of the moment, or of a run that was killed.
    if (output.is_output() &&
        (!output.is_companion || !output.place.filename().string().starts_with('.'))) {
      check_writable_file(output.name(),
                          output.is_companion ? output.place : fs::path(output.typed),
                          *output.option->kind_of_output);
    }
  }
}

void OptionList::read() const {
  read_values();
  if (const std::vector<std::string> messages = without_effect(); !messages.empty()) {
    throw InvalidInput(messages.front());
  }
  check_files();
}

void OptionList::read_values() const {
  for (const Option& option : options_) {
    for (const std::string& text : option.typed) {
      option.read(option.name, text);
    }
  }
}

} // namespace diffbench::bench
