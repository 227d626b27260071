// SPDX-License-Identifier: Apache-2.0
// A lesson as its author wrote it, in TOML: every fault is told with file and line.
#include "command_words.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "diffbench/name_table.hpp"
#include "diffbench/text.hpp"
#include "expression.hpp"
#include "lesson.hpp"
#include "peer.hpp"
#include "pitfalls/pitfall.hpp"
#include "starting_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

namespace diffbench::bench::lesson {

namespace {

constexpr NameTable<Relation, 6> relation_names{"condition",
                                                {{{Relation::below, "<"},
                                                  {Relation::at_most, "<="},
                                                  {Relation::above, ">"},
                                                  {Relation::at_least, ">="},
                                                  {Relation::equal, "="},
                                                  {Relation::otherwise, "else"}}}};

/// Lines and spaces of a text are as its author found them easy to write.
std::string unwrapped(std::string_view text) {
  std::string words;
  bool between = false;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) {
      words += between && !words.empty() ? " " : "";
      words += c;
    }
    between = space;
  }
  return words;
}

/// A table of the file, of which every key must be known.
class Part {
 public:
  Part(const std::string& file, const toml::table& table, std::vector<std::string> keys)
      : file_(file), table_(table) {
    for (const auto& [key, node] : table) {
      if (std::ranges::find(keys, key.str()) == keys.end()) {
        fail_at(key.source(), unknown_name("key", key.str(), keys).what());
      }
    }
  }

  [[noreturn]] void fail(const std::string& complaint) const {
    fail_at(table_.source(), complaint);
  }
  /// At the key, where it is there.
  [[noreturn]] void fail(std::string_view key, const std::string& complaint) const {
    const toml::node* node = table_.get(key);
    fail_at(node != nullptr ? node->source() : table_.source(),
            fmt::format("{}: {}", key, complaint));
  }
  /// What `check` complains of is that key's fault.
  void check(std::string_view key, const std::function<void()>& check) const {
    try {
      check();
    } catch (const InvalidInput& error) {
      fail(key, error.what());
    }
  }

  [[nodiscard]] const toml::node* find(std::string_view key) const { return table_.get(key); }

  /// Text that is not empty.
  [[nodiscard]] std::string text(std::string_view key) const {
    const std::string text = optional_text(key);
    if (text.empty()) {
      fail(key, "text is expected here");
    }
    return text;
  }
  [[nodiscard]] std::string optional_text(std::string_view key) const {
    const toml::node* node = find(key);
    return node == nullptr ? "" : text_of(key, *node);
  }
  /// Of one text, or a list of them.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> all;
    if (const toml::node* node = find(key)) {
      if (const toml::array* list = node->as_array()) {
        for (const toml::node& element : *list) {
          all.push_back(text_of(key, element));
        }
      } else {
        all.push_back(text_of(key, *node));
      }
    }
    return all;
  }
  [[nodiscard]] bool truth(std::string_view key) const {
    const toml::node* node = find(key);
    if (node != nullptr && !node->is_boolean()) {
      fail(key, "is to be true or false");
    }
    return node != nullptr && node->as_boolean()->get();
  }
  [[nodiscard]] std::optional<int> integer(std::string_view key, int least, int most) const {
    const toml::node* node = find(key);
    const std::optional<std::int64_t> number =
        node != nullptr && node->is_integer() ? node->value<std::int64_t>() : std::nullopt;
    if (node != nullptr && !(number && *number >= least && *number <= most)) {
      fail(key, fmt::format("is to be a whole number, {} to {}", least, most));
    }
    return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
  }
  [[nodiscard]] double number(std::string_view key, double least, double usual) const {
    const toml::node* node = find(key);
    const std::optional<double> number = node != nullptr ? node->value<double>() : usual;
    if (!(number && *number >= least && *number < std::numeric_limits<double>::infinity())) {
      fail(key, fmt::format("is to be a number, {} or more", least));
    }
    return *number;
  }
  /// The tables [[key]].
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key) const {
    std::vector<const toml::table*> all;
    const toml::node* node = find(key);
    if (node == nullptr || !node->is_array_of_tables()) {
      fail(key, fmt::format("is to be one or more tables [[{}]]", key));
    }
    for (const toml::node& element : *node->as_array()) {
      all.push_back(element.as_table());
    }
    return all;
  }
  /// The texts of a table of texts, in no order of its own.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs(std::string_view key) const {
    std::vector<std::pair<std::string, std::string>> all;
    const toml::node* node = find(key);
    if (node == nullptr) {
      return all;
    }
    if (!node->is_table()) {
      fail(key, "is to be a table");
    }
    for (const auto& [name, value] : *node->as_table()) {
      all.emplace_back(name.str(), text_of(key, value));
    }
    return all;
  }

 private:
  [[noreturn]] void fail_at(const toml::source_region& place, const std::string& complaint) const {
    throw InvalidInput(fmt::format("{}:{}: {}", file_, place.begin.line, complaint));
  }

  [[nodiscard]] std::string text_of(std::string_view key, const toml::node& node) const {
    if (!node.is_string()) {
      fail_at(node.source(), fmt::format("{}: is to be text, in quotation marks", key));
    }
    return unwrapped(node.as_string()->get());
  }

  const std::string& file_;
  const toml::table& table_;
};

/// Of `{full|quick}`, each has both sides.
void require_sides(const std::string& words) {
  std::string_view rest = words;
  for (std::size_t open; (open = rest.find_first_of("{}")) != std::string_view::npos;) {
    const std::size_t bar = rest.find_first_of("|{}", open + 1);
    const std::size_t close =
        bar == std::string_view::npos ? bar : rest.find_first_of("{}", bar + 1);
    if (rest[open] != '{' || close == std::string_view::npos || rest[bar] != '|' ||
        rest[close] != '}') {
      throw InvalidInput("braces are to be {full|quick}: words of the lesson, and of --quick");
    }
    rest.remove_prefix(close + 1);
  }
}

/// Options that choose what is measured; others write files, or start programs. Peers are the
/// program's own scripts.
constexpr std::string_view harmless_options =
    " --all --allow-unstable --async --backend --baseline --batch --boundary "
    "--boundary-value --budget --bytes-per-cell --cells --check --check-grid "
    "--copies-per-step --cross --data --device --diffusivity --dt --dtype --engine --epochs "
    "--first-batch --flops-per-cell --form --grid --halo-depth --hidden --init --isa --iters "
    "--last --layers --lr --max-size --memory --momentum --most-batch --no-timing --only "
    "--optimizer --peer --pinned --precision --quality --range --repetitions "
    "--roundtrip-every --schedules --seed --spacing --step --steps-per-launch --threads "
    "--timeout --tolerance --train --transfer --until --weak --weight-decay ";

/// The library's parser calls itself for each part of a dotted key, whose tables may be in each
/// other on many lines. Each part has a full stop before it; the program's own lessons have at most
/// a hundred and some.
void require_shallow(std::string_view text) {
  constexpr std::ptrdiff_t most_stops = 2000;
  if (std::ranges::count(text, '.') > most_stops) {
    throw InvalidInput(fmt::format("has more than {} full stops", most_stops));
  }
}

class LessonReader {
 public:
  explicit LessonReader(std::string file) : file_(std::move(file)) {}

  Lesson read(std::string_view text) const {
    try {
      require_shallow(text);
    } catch (const InvalidInput& error) {
      throw InvalidInput(fmt::format("{}: {}", file_, error.what()));
    }
    try {
      return lesson(toml::parse(text));
    } catch (const toml::parse_error& error) {
      throw InvalidInput(fmt::format("{}:{}: {}", file_, error.source().begin.line,
                                     std::string_view(error.description())));
    }
  }

 private:
  Lesson lesson(const toml::table& table) const {
    const Part part(file_, table, {"number", "title", "teaches", "takes", "step"});
    const std::optional<int> number = part.integer("number", 1, most_lessons);
    if (!number) {
      part.fail("number: a lesson has one");
    }
    Lesson lesson{.number = *number,
                  .title = part.text("title"),
                  .teaches = part.text("teaches"),
                  .takes = part.optional_text("takes"),
                  .steps = {}};
    for (const toml::table* each : part.tables("step")) {
      lesson.steps.push_back(step(*each, lesson.steps));
    }
    return lesson;
  }

  LessonStep step(const toml::table& table, const std::vector<LessonStep>& before) const {
    const Part part(
        file_, table,
        {"name", "text", "command", "exercise", "peer", "assumes", "gpu_pitfalls", "question"});
    LessonStep step{
        .name = part.text("name"),
        .text = part.text("text"),
        .command = part.text("command"),
        .exercise = static_cast<std::size_t>(
            part.integer("exercise", 1, static_cast<int>(exercise_count())).value_or(0)),
        .peer = part.optional_text("peer"),
        .assumes = part.truth("assumes"),
        .questions = {},
        .gpu_pitfalls = part.texts("gpu_pitfalls")};
    require_file_name(part, step.name, before);
    part.check("text", [&] { require_sides(step.text); });
    part.check("command", [&] { require_command(step); });
    if (!step.peer.empty() && std::ranges::count(peer_names(), step.peer) == 0) {
      part.fail("peer", unknown_name("peer", step.peer, peer_names()).what());
    }
    const std::vector<std::string> known = names_in(all_pitfalls());
    for (const std::string& name : step.gpu_pitfalls) {
      if (std::ranges::find(known, name) == known.end()) {
        part.fail("gpu_pitfalls", unknown_name("mistake", name, known).what());
      }
    }
    for (const toml::table* each : part.tables("question")) {
      step.questions.push_back(question(*each));
    }
    return step;
  }

  static void require_file_name(const Part& part, const std::string& name,
                                const std::vector<LessonStep>& before) {
    if (!std::ranges::all_of(name, [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
        })) {
      part.fail("name", "is part of a file's name: small letters, digits and hyphens");
    }
    if (std::ranges::find(before, name, &LessonStep::name) != before.end()) {
      part.fail("name", fmt::format("there is another step {}", name));
    }
  }

  /// A lesson of somebody else's starts no program but this one and its peers.
  static void require_command(const LessonStep& step) {
    require_sides(step.command);
    for (const bool quick : {false, true}) {
      require_verb(worded(step.command, quick), step.exercise != 0);
    }
  }

  static void require_verb(const std::string& command, bool with_exercise) {
    const std::vector<std::string> words = argument_words(command);
    const std::vector<std::string> verbs{"advise",  "mlp",   "pitfalls", "residency",
                                         "scaling", "sweep", "transfer", "try"};
    const std::string first = words.empty() ? "" : words.front();
    // After an option of the comparison the program takes no verb; after --quiet it would.
    if (first != "--grid" && std::ranges::find(verbs, first) == verbs.end()) {
      throw InvalidInput(
          fmt::format("begins with \"{}\"; it is to begin with --grid, for the "
                      "comparison, or with one of {}",
                      printable(first), fmt::join(verbs, ", ")));
    }
    if (first == "mlp" && words.size() < 2) {
      throw InvalidInput("mlp is to be followed by what it measures, such as mlp width");
    }
    if ((first == "try") != with_exercise) {
      throw InvalidInput("try and exercise = N belong together");
    }
    for (const std::string& word : words) {
      const std::string option = word.substr(0, word.find('='));
      if (option.starts_with('-') &&
          harmless_options.find(" " + option + " ") == std::string_view::npos) {
        throw InvalidInput(
            fmt::format("{} is no option for a lesson, which chooses what is measured, "
                        "and neither files to write nor programs to run",
                        printable(option)));
      }
    }
  }

  Question question(const toml::table& table) const {
    const Part part(file_, table,
                    {"text", "unit", "choices", "measured", "assumed", "reasoned", "reported",
                     "clear", "choose", "why", "tolerance"});
    Question question{.text = part.text("text"),
                      .unit = part.optional_text("unit"),
                      .choices = part.texts("choices"),
                      .known_by = {},
                      .clear = part.optional_text("clear"),
                      .choose = {},
                      .why = {},
                      .tolerance = part.number("tolerance", 1, number_tolerance)};
    part.check("text", [&] { require_sides(question.text); });
    constexpr std::size_t most_choices = 26;
    if (question.unit.empty() == question.choices.empty() || question.choices.size() == 1 ||
        question.choices.size() > most_choices) {
      part.fail("a question has either a unit, of the number that it asks for, or 2 to 26 choices");
    }
    read_known_by(part, question);
    read_choose(part, question);
    read_why(part, question);
    return question;
  }

  static char letter(const Question& question, const std::string& text) {
    const auto choices = static_cast<char>('a' + static_cast<char>(question.choices.size()));
    if (text.size() != 1 || text[0] < 'a' || text[0] >= choices) {
      throw InvalidInput(fmt::format("\"{}\" is none of the choices, a to {}", printable(text),
                                     static_cast<char>(choices - 1)));
    }
    return text[0];
  }

  static void read_known_by(const Part& part, Question& question) {
    static const AssumedCard card;
    static const Value nothing;
    const StepResult no_result{nothing, card};
    const bool chooses = part.find("choose") != nullptr;
    for (const auto& [key, source] : {std::pair{"measured", Source::measured},
                                      {"assumed", Source::assumed},
                                      {"reasoned", Source::reasoned},
                                      {"reported", Source::reported}}) {
      const bool by_letter =
          !question.choices.empty() && source != Source::measured && source != Source::assumed;
      for (const std::string& text : part.texts(key)) {
        part.check(key, [&, source = source] {
          question.known_by.push_back({.source = source});
          if (by_letter) {
            question.known_by.back().choice = letter(question, text);
          } else {
            require_sides(text);
            (void)evaluate(worded(text, false), no_result);
            (void)evaluate(worded(text, true), no_result);
            question.known_by.back().expression = text;
          }
        });
        if (!by_letter && !question.choices.empty() && !chooses) {
          part.fail(key, "a figure that is to answer with a choice needs choose");
        }
      }
    }
    if (question.known_by.empty()) {
      part.fail("a question has an answer: measured, assumed, reasoned or reported");
    }
    if (!question.clear.empty()) {
      part.check("clear", [&] { (void)values_at(question.clear, no_result); });
    }
  }

  static void read_choose(const Part& part, Question& question) {
    int otherwise = 0;
    for (const auto& [choice, condition] : part.pairs("choose")) {
      part.check("choose", [&, &choice = choice, &condition = condition] {
        const std::size_t space = condition.find(' ');
        Condition read{.relation = relation_names.parse(condition.substr(0, space))};
        const bool is_else = read.relation == Relation::otherwise;
        const auto limit = parse_number<double>(
            space == std::string::npos ? "" : std::string_view(condition).substr(space + 1));
        if (is_else == limit.has_value()) {
          throw InvalidInput(
              fmt::format("\"{}\": is to be like \"< 1\", or \"else\"", printable(condition)));
        }
        read.limit = limit.value_or(0);
        otherwise += is_else ? 1 : 0;
        question.choose.emplace_back(read, letter(question, choice));
      });
    }
    if (part.find("choose") != nullptr && otherwise != 1) {
      part.fail("choose", "one of the choices is to be \"else\"");
    }
  }

  static void read_why(const Part& part, Question& question) {
    const toml::node* node = part.find("why");
    if (node == nullptr || !node->is_table()) {
      question.why = part.text("why");
      return;
    }
    for (const auto& [key, text] : part.pairs("why")) {
      if (key == "else") {
        question.why = text;
      } else {
        part.check("why", [&, &key = key, &text = text] {
          question.why_of.emplace_back(letter(question, key), text);
        });
      }
    }
    if (question.why.empty() && question.why_of.size() != question.choices.size()) {
      part.fail("why", "is to explain each choice, or have an else");
    }
  }

  std::string file_;
};

} // namespace

Lesson read_lesson(const std::string& file, std::string_view text) {
  return LessonReader(file).read(text);
}

} // namespace diffbench::bench::lesson
