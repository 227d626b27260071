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
    if (option.kind == Kind::check) {
      continue;
    }
    const Read hand_on = [&option](std::string_view, const std::string& text) {
      option.typed.push_back(text);
    };
    const auto known = std::ranges::find(options_, option.name, &Option::name);
    if (known != options_.end()) {
      known->read = [also = known->read, hand_on](std::string_view name, const std::string& text) {
        also(name, text);
        hand_on(name, text);
      };
      continue;
    }
    const auto behind = std::find_if(options_.rbegin(), options_.rend(), [&](const Option& each) {
                          return each.group == option.group;
                        }).base();
    options_.insert(behind == options_.begin() ? options_.end() : behind, option)->read = hand_on;
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

struct NamedFile {
  const OptionList::Option* option;
  std::string typed;
  std::filesystem::path place;
  bool is_companion = false;

  [[nodiscard]] std::string text() const {
    return fmt::format("{} {}", option->name.substr(option->name.find("--")), typed) +
           (is_companion ? fmt::format(" (with '{}')", place.filename().string()) : "");
  }
};

/// A name such as "block" is a file only where there is one.
bool names_file(const OptionList::Option& option, const std::string& text) {
  if (option.type.find("FILE") == std::string::npos && option.kind != OptionList::Kind::files) {
    return false;
  }
  std::error_code ignored;
  return !text.empty() && text != stdout_name &&
         (option.type.starts_with("FILE") || std::filesystem::exists(text, ignored));
}

/// What is given without a name is read.
bool is_read(const OptionList::Option& option) {
  return option.name.find("--") == std::string::npos;
}

bool may_share(const OptionList::Option& one, const OptionList::Option& other) {
  return (is_read(one) && is_read(other)) || one.replaces == other.name ||
         other.replaces == one.name;
}

} // namespace

// An output that replaces another, or what the run reads, is lost work: by any path, before any.
void OptionList::refuse_shared_files() const {
  std::vector<NamedFile> files;
  for (const Option& option : options_) {
    for (const std::string& text : option.typed) {
      if (names_file(option, text)) {
        files.push_back({.option = &option, .typed = text, .place = place_of(text)});
        for (const auto& companion : option.companions ? option.companions(files.back().place)
                                                       : std::vector<std::filesystem::path>()) {
          files.push_back(
              {.option = &option, .typed = text, .place = companion, .is_companion = true});
        }
      }
    }
  }
  for (auto one = files.begin(); one != files.end(); ++one) {
    const auto other = std::find_if(one + 1, files.end(), [&](const NamedFile& file) {
      return file.option != one->option && file.place == one->place &&
             !may_share(*file.option, *one->option);
    });
    if (other == files.end()) {
      continue;
    }
    if (is_read(*one->option) || is_read(*other->option)) {
      const NamedFile& output = is_read(*one->option) ? *other : *one;
      throw InvalidInput(fmt::format("{}: is also an input; give another name", output.text()));
    }
    throw InvalidInput(fmt::format(
        "{} and {}: two outputs, or an output and an input, cannot go to the same place",
        one->text(), other->text()));
  }
}

void OptionList::read() const {
  read_values();
  if (const std::vector<std::string> messages = without_effect(); !messages.empty()) {
    throw InvalidInput(messages.front());
  }
}

void OptionList::read_values() const {
  refuse_shared_files();
  for (const Option& option : options_) {
    for (const std::string& text : option.typed) {
      option.read(option.name, text);
    }
  }
}

} // namespace diffbench::bench
