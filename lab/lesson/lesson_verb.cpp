// SPDX-License-Identifier: Apache-2.0
// `diffbench lesson [N]`: its options, and the list of the lessons.
#include "course.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/machine.hpp"
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "option_list.hpp"
#include "process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <string>

namespace diffbench::bench {

namespace {

std::string lesson_list(const std::vector<lesson::Lesson>& lessons) {
  std::string text = "diffbench lesson N asks, measures and explains; no GPU is needed.\n";
  for (const lesson::Lesson& each : lessons) {
    text +=
        fmt::format("\n{}  {}{}\n   {}\n", each.number, each.title,
                    each.takes.empty() ? "" : fmt::format(" (about {})", each.takes), each.teaches);
  }
  return text;
}

const lesson::Lesson& find_lesson(const std::vector<lesson::Lesson>& lessons, int number) {
  const auto found = std::ranges::find(lessons, number, &lesson::Lesson::number);
  if (found == lessons.end()) {
    std::vector<int> numbers;
    std::ranges::transform(lessons, std::back_inserter(numbers), &lesson::Lesson::number);
    throw InvalidInput(
        fmt::format("there is no lesson {}: choose {}", number, fmt::join(numbers, ", ")));
  }
  return *found;
}

constexpr std::size_t longest_name = 100;

/// Empty where the system knows none.
std::string login_name() {
  const passwd* const entry = ::getpwuid(::getuid());
  return entry == nullptr || entry->pw_name == nullptr ? "" : entry->pw_name;
}

struct LessonOptions {
  int number = 0; ///< 0: the list of all
  bool plan = false;
  lesson::CourseOptions course;
};

/// Runs this very program, started as its user would; its stderr is ours, and its stdout where it
/// `shows` something, its stdin is empty. Waits for its end, and passes an interrupt on to it. The
/// exit code, 128 + n after signal n; throws Error when it cannot be started.
int run_here(const std::vector<std::string>& arguments, bool shows) {
  std::vector<std::string> words{"diffbench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // Not a ChildProcess: whoever takes the lesson sees its tables and its progress. It stays in our
  // process group, so a Ctrl-Z stops both.
  const FileDescriptor nowhere(shows ? -1 : ::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Process child({.words = words,
                 .path = program_path().string(),
                 .input = "/dev/null",
                 .out = nowhere.get(),
                 .own = ProcessPlan::Own::nothing});
  constexpr double for_ever = std::numeric_limits<double>::infinity();
  if (!child.wait(for_ever, interrupted)) {
    // From a terminal it has had the signal, too: twice at once is one request (interrupt.hpp).
    child.send(SIGINT);
  }
  return child.wait(for_ever)->status;
}

} // namespace

Action declare_lesson(OptionList& options) {
  const auto typed = std::make_shared<LessonOptions>();
  lesson::CourseOptions& course = typed->course;
  course.card_as_typed = "h200";
  options.integer("LESSON", typed->number, {1, 99}, "which one", "list them");
  options.flag("--list", typed->plan, "list its commands and questions; measure nothing");
  options.clearing_flag("--no-quiz", course.quiz, "do not ask for guesses");
  options.flag(
      "--quick", course.quick,
      "small problems and short samples: shows the course in seconds; the figures mean little");
  options.flag("--again", course.again, "measure anew what is finished; guesses are kept");
  options.text("--assume CARD|FILE", course.card_as_typed,
               "the GPU that questions assume where there is none: h200, a100, t4, laptop, or a "
               "file like docs/lab.md's");
  options.group("Output");
  options.text(
      "--out DIR", course.folder,
      "where results, guesses, sheet and page go; a lesson that ended early continues from "
      "there (default: diffbench-lesson-N)");
  options.output("--sheet FILE", course.sheet, kind_of_output::csv,
                 "a CSV line for each question: guess, answer, source of the answer (default: "
                 "sheet.csv in --out)");
  options.text("--name TEXT", course.name,
               "who takes the lesson, for the sheet, which also names the host (default: the login "
               "name)");
  for (const char* taken : {"--no-quiz", "--again", "--out", "--sheet", "--name"}) {
    options.needs(taken, "a lesson that is taken: give its number, without --list",
                  [typed] { return typed->number > 0 && !typed->plan; });
  }
  options.check([typed] {
    if (typed->course.sheet == "-") {
      throw InvalidInput("--sheet -: stdout has the lesson; name a file");
    }
    if (typed->course.name.empty()) {
      typed->course.name = login_name();
    }
    if (typed->course.name.size() > longest_name) {
      throw InvalidInput(fmt::format("--name: at most {} characters", longest_name));
    }
    typed->course.card = find_assumed_card(typed->course.card_as_typed);
  });
  return [typed](const Invocation& invocation) {
    const auto lessons = lesson::all_lessons();
    if (typed->number == 0) {
      lesson::say(invocation.out, lesson_list(lessons));
      return exit_ok;
    }
    const lesson::Lesson& chosen = find_lesson(lessons, typed->number);
    if (typed->plan) {
      lesson::say(invocation.out, lesson::lesson_plan(chosen, typed->course));
      return exit_ok;
    }
    const InterruptGuard guard;
    return lesson::take_lesson(chosen, typed->course, invocation, run_here);
  };
}

} // namespace diffbench::bench
