// SPDX-License-Identifier: Apache-2.0
#include "course.hpp"

#include "command_words.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "exit_code.hpp"
#include "expression.hpp"
#include "folder.hpp"
#include "guesses.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "lab_report.hpp"
#include "machine_identity.hpp"
#include "output.hpp"
#include "peer.hpp"
#include "pitfalls/pitfall.hpp"
#include "result_file.hpp"
#include "result_reader.hpp"
#include "sheet.hpp"
#include "starting_file.hpp"
#include "text_width.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace diffbench::bench::lesson {

namespace {

std::string default_folder(const Lesson& lesson, bool quick) {
  return fmt::format("diffbench-lesson-{}{}", lesson.number, quick ? "-quick" : "");
}

std::filesystem::path folder_of(const Lesson& lesson, const CourseOptions& options) {
  return options.folder.empty() ? default_folder(lesson, options.quick) : options.folder;
}

std::filesystem::path exercise_file(const LessonStep& step, const std::filesystem::path& folder) {
  return folder / exercise_file_name(step.exercise);
}

std::vector<std::string> arguments_of(const LessonStep& step, const CourseOptions& options,
                                      const std::filesystem::path& folder) {
  std::vector<std::string> words = argument_words(worded(step.command, options.quick));
  if (step.exercise != 0) {
    words.push_back(exercise_file(step, folder).string());
  }
  if (step.assumes) {
    words.insert(words.end(), {"--assume", options.card_as_typed});
  }
  return words;
}

std::string title_of(const Lesson& lesson) {
  return fmt::format("Lesson {}: {}\n{}\n", lesson.number, lesson.title, lesson.teaches);
}

/// What a step is, up to its questions.
std::string heading(const Lesson& lesson, const LessonStep& step, std::size_t place, bool quick,
                    const std::vector<std::string>& arguments) {
  return fmt::format("\n--- step {} of {}: {}\n{}\n  $ diffbench {}\n", place + 1,
                     lesson.steps.size(), step.name, worded(step.text, quick),
                     fmt::join(arguments, " "));
}

/// A mistake that needs a GPU, in words.
std::string told(const Pitfall& pitfall) {
  return fmt::format("\n{}: {}; mistake: {}; right: {}; reason: {}\n", pitfall.name, pitfall.work,
                     pitfall.mistake, pitfall.right, pitfall.why);
}

class Course {
 public:
  Course(const Lesson& lesson, const CourseOptions& options, const Invocation& invocation,
         const RunCommand& run_command)
      : lesson_(lesson),
        options_(options),
        invocation_(invocation),
        run_command_(run_command),
        folder_(folder_of(lesson, options), options.sheet, names_in(lesson.steps)),
        guesses_(folder_.guesses()),
        reader_(invocation.err) {
    for (const LessonStep& step : lesson.steps) {
      arguments_.push_back(arguments_of(step, options, folder_.path()));
      if (!step.peer.empty() && probe_peer(step.peer).available) {
        arguments_.back().insert(arguments_.back().end(), {"--peer", std::string(step.peer)});
      }
    }
  }

  int run() {
    for (std::size_t step = 0; step < lesson_.steps.size(); ++step) {
      if (folder_.finished(step) && !options_.again) {
        (void)folder_.read(step, command_of(step)); // one that is not ours is refused before work
      }
    }
    say(fmt::format("{}Results go to {}.\n", title_of(lesson_), folder_.path().string()));
    for (std::size_t step = 0; step < lesson_.steps.size() && exit_code_ == exit_ok && !left_;
         ++step) {
      const std::size_t answered = asked_.size();
      try {
        if (interrupted()) { // while the last command ended by itself
          throw Interrupted();
        }
        exit_code_ = take(step);
      } catch (const Interrupted&) {
        exit_code_ = exit_interrupted;
      } catch (const Left&) {
        left_ = true;
      }
      if (exit_code_ != exit_ok || left_) {
        asked_.resize(answered); // the step's questions have no answers
      }
    }
    finish();
    return exit_code_;
  }

 private:
  void say(const std::string& text) const { lesson::say(invocation_.out, text); }

  [[nodiscard]] std::string command_of(std::size_t step) const {
    return fmt::format("diffbench {}", fmt::join(arguments_[step], " "));
  }

  int take(std::size_t place) {
    const LessonStep& step = lesson_.steps[place];
    const bool seen = folder_.finished(place);
    const bool finished = seen && !options_.again;
    say(heading(lesson_, step, place, options_.quick, arguments_[place]));
    say("\n");
    const std::size_t first = asked_.size();
    for (const Question& question : step.questions) {
      // Whose step is finished may have seen the figures.
      ask(question, command_of(place), options_.quiz && !seen);
    }
    if (finished) {
      say(fmt::format("\nMeasured before, in {}.\n", folder_.result(place).string()));
    } else if (const int code = measure(place); code != exit_ok) {
      if (code != exit_unavailable || step.exercise == 0) {
        return code;
      }
      asked_.resize(first);
      say("\nLeft out: it cannot run here, as said above.\n");
      return exit_ok;
    }
    answer(place, first, finished);
    return exit_ok;
  }

  void ask(const Question& question, const std::string& command, bool quiz) {
    Asked& asked =
        asked_.emplace_back(Asked{.question = &question,
                                  .number = fmt::format("{}.{}", lesson_.number, asked_.size() + 1),
                                  .command = command,
                                  .card = options_.card.id,
                                  .text = worded(question.text, options_.quick)});
    say(question_lines(asked));
    const std::size_t choices = question.choices.size();
    asked.guess =
        read_guess(guesses_.find(asked.number), question.unit, choices).guess.value_or("");
    if (asked.guess.empty() && quiz) {
      asked.guess = reader_.ask(asked.number, question.unit, choices);
      guesses_.keep(asked.number, asked.guess);
    }
  }

  /// Whether the command's own tables are shown, and not those of the lesson.
  [[nodiscard]] bool shows_command(std::size_t place) const {
    return wide_tables || lesson_.steps[place].tables.empty();
  }

  /// A wrong row has no time; the others answer the questions.
  int measure(std::size_t place) {
    std::error_code ignored; // what is removed need not be there
    if (const LessonStep& step = lesson_.steps[place]; step.exercise != 0) {
      const std::filesystem::path file = exercise_file(step, folder_.path());
      std::filesystem::remove(file, ignored); // the questions are about the port as it is given
      write_exercise(step.exercise, file);
    }
    std::vector<std::string> words = arguments_[place];
    words.insert(words.end(), {"--json", folder_.part(place).string()});
    if (wide_tables) {
      words.emplace_back("--wide");
    }
    if (invocation_.quiet) {
      words.emplace_back("--quiet");
    }
    if (shows_command(place)) {
      say("\n");
    }
    std::filesystem::remove(folder_.part(place), ignored); // of a run that was killed
    const int code = run_command_(words, shows_command(place));
    const bool wrong_row =
        code == exit_not_verified && std::filesystem::exists(folder_.part(place), ignored);
    if (wrong_row) {
      with_wrong_row_.push_back(command_of(place));
    }
    if (code == exit_ok || wrong_row) {
      folder_.finish(place);
      return exit_ok;
    }
    return code;
  }

  void answer(std::size_t place, std::size_t first, bool measured_before) {
    const nlohmann::ordered_json file = folder_.read(place, command_of(place));
    const Value own = value_of(member(file, "diffbench"));
    if (measured_before) {
      const std::string other = identity_difference(member(file, "context"));
      say(other.empty() ? "" : fmt::format("It is of another machine or build: {}.\n", other));
    }
    const bool beside_others = own.find("disturbed").plain_text() == "true";
    const Value& width = own.find("width");
    StepResult result{own, options_.card, options_.quick};
    if (!width.is_null()) {
      result.width = {.low = figure(width, "low"), .high = figure(width, "high")};
    }
    if (!shows_command(place)) {
      show_tables(place, result);
    } else if (measured_before) {
      say(text_at(own, "sentence") + "\n");
    }
    for (const Pitfall& pitfall : all_pitfalls()) {
      if (std::ranges::count(lesson_.steps[place].gpu_pitfalls, pitfall.name) > 0 &&
          values_at(fmt::format("pitfalls[name={},status=ok]", pitfall.name), result).empty()) {
        say(told(pitfall));
      }
    }
    for (std::size_t i = first; i < asked_.size(); ++i) {
      Answer& answer = asked_[i].answer;
      answer = answer_of(*asked_[i].question, result);
      answer = answered(answer, !beside_others || (!width.is_null() && tells(answer.figure)));
      say((i == first ? "\n" : "") + answer_lines(asked_[i]));
    }
  }

  void show_tables(std::size_t place, const StepResult& result) const {
    for (const StepTable& table : lesson_.steps[place].tables) {
      say(table_text(table, result));
    }
    if (result.width.low < result.width.high) {
      say(fmt::format("(beside other programs: without them {} to {} times as long)\n",
                      format_figure(result.width.low), format_figure(result.width.high)));
    }
    if (std::ranges::count(with_wrong_row_, command_of(place)) > 0) {
      say(text_at(result.own, "sentence") + "\n");
    }
  }

  /// The sheet has what was answered, however the lesson ended; the page is of a whole one.
  void finish() {
    Outputs outputs;
    if (!asked_.empty()) { // else an older sheet stays
      outputs.attempt([&] {
        const Student student{.name = options_.name, .host = host_name(), .date = now_iso8601()};
        write_to(invocation_.out, folder_.sheet(), sheet_text(student, asked_));
        say(fmt::format("\n{}{}{}: the class sheet\n", advice(), score(), folder_.sheet()));
      });
    }
    if (exit_code_ == exit_ok && !left_) {
      outputs.attempt([&] { make_page(); });
    }
    outputs.finish(invocation_.err);
    for (const std::string& command : with_wrong_row_) {
      tell(invocation_.err,
           fmt::format("a row of {} was WRONG and not timed, as said above; the lesson went on",
                       command));
    }
    if (exit_code_ == exit_interrupted || left_) {
      tell(invocation_.err,
           fmt::format("{}; finished steps and guesses are kept, and the same command goes on with "
                       "the next step",
                       left_ ? "left" : "interrupted"));
    } else if (exit_code_ != exit_ok) {
      tell(invocation_.err,
           "the lesson ends here, since that command failed; the same "
           "command tries it again");
    }
  }

  [[nodiscard]] std::string advice() const {
    const bool disturbed = std::ranges::any_of(
        asked_, [](const Asked& a) { return a.answer.source == Source::disturbed; });
    return disturbed ? "Other programs were running, so some questions have no answer: take the "
                       "lesson again on a quiet machine, with another --out.\n"
                     : "";
  }

  [[nodiscard]] std::string score() const {
    const auto guessed =
        std::ranges::count_if(asked_, [](const Asked& a) { return !a.mark().text.empty(); });
    const auto right = std::ranges::count_if(asked_, [](const Asked& a) { return a.mark().right; });
    return guessed == 0 ? "" : fmt::format("{} of {} guesses are right.\n", right, guessed);
  }

  /// The lesson as a result file, which the page lays out.
  void write_course() const {
    LabReport report{.text = "", .sentence = title_of(lesson_), .data = Value::object()};
    report.data["title"] = fmt::format("Lesson {}: {}", lesson_.number, lesson_.title);
    report.data["teaches"] = lesson_.teaches;
    Value steps = Value::list();
    for (std::size_t place = 0; place < lesson_.steps.size(); ++place) {
      if (folder_.finished(place)) {
        const LessonStep& step = lesson_.steps[place];
        steps.push_back({{"name", step.name},
                         {"text", worded(step.text, options_.quick)},
                         {"command", command_of(place)},
                         {"file", folder_.result(place).filename().string()}});
      }
    }
    report.data["steps"] = steps;
    report.data["results"] = Value::each(asked_, asked_json);
    report.columns = asked_heads();
    write_to(invocation_.out, folder_.course().string(),
             json_of(lab_result("lesson_taken", invocation_.command, report)).dump(1));
  }

  void make_page() const {
    write_course();
    std::vector<std::string> words{"report", folder_.course().string()};
    for (std::size_t step = 0; step < lesson_.steps.size(); ++step) {
      if (folder_.finished(step)) {
        words.push_back(folder_.result(step).string());
      }
    }
    words.insert(words.end(), {"-o", folder_.page().string()});
    const int code = run_command_(words, true);
    if (code != exit_ok && code != exit_unavailable) { // a build without a page has said so
      throw Error(
          fmt::format("{}: was not written; the results are kept", folder_.page().string()));
    }
  }

  const Lesson& lesson_;
  const CourseOptions& options_;
  const Invocation& invocation_;
  const RunCommand& run_command_;
  Folder folder_;
  GuessFile guesses_;
  GuessReader reader_;
  std::vector<std::vector<std::string>> arguments_; ///< of the steps
  std::vector<Asked> asked_;
  std::vector<std::string> with_wrong_row_; ///< commands
  int exit_code_ = exit_ok;
  bool left_ = false;
};

} // namespace

void say(std::ostream& out, const std::string& text) {
  write_text(out, wrapped(text, handout_width));
}

std::string lesson_plan(const Lesson& lesson, const CourseOptions& options) {
  std::string text = title_of(lesson);
  int number = 0;
  for (std::size_t place = 0; place < lesson.steps.size(); ++place) {
    const LessonStep& step = lesson.steps[place];
    text += heading(lesson, step, place, options.quick,
                    arguments_of(step, options, folder_of(lesson, options)));
    for (const Question& question : step.questions) {
      text += "\n" + question_lines({.question = &question,
                                     .number = fmt::format("{}.{}", lesson.number, ++number),
                                     .command = {},
                                     .card = {},
                                     .text = worded(question.text, options.quick)});
    }
  }
  return text;
}

int take_lesson(const Lesson& lesson, const CourseOptions& options, const Invocation& invocation,
                const RunCommand& run_command) {
  return Course(lesson, options, invocation, run_command).run();
}

} // namespace diffbench::bench::lesson
