// SPDX-License-Identifier: Apache-2.0
// Lessons: guesses and what is made of them, answers with a GPU and without, and a course taken
// with commands that are played.
#include "lesson/lesson.hpp"
#include "lesson/answer.hpp"
#include "lesson/course.hpp"
#include "lesson/guesses.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/known_names.hpp"
#include "exit_code.hpp"
#include "json.hpp"
#include "peer.hpp"
#include "pitfalls/pitfall.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

namespace diffbench::bench::lesson {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// What the reader of texts takes for granted.
void expect_well_formed(const Question& question) {
  EXPECT_FALSE(question.known_by.empty()) << question.text;
  EXPECT_THAT(worded(question.text, false), Not(testing::ContainsRegex("[{|}]")));
  EXPECT_NE(question.unit.empty(), question.choices.empty()) << question.text;
  EXPECT_NE(question.choices.size(), 1) << question.text;
  EXPECT_GE(question.tolerance, 1) << question.text;
  EXPECT_FALSE(question.why.empty() && question.why_of.size() != question.choices.size())
      << question.text;
  const auto is_choice = [&](char letter) {
    return letter >= 'a' && static_cast<std::size_t>(letter - 'a') < question.choices.size();
  };
  for (const auto& [condition, letter] : question.choose) {
    EXPECT_TRUE(is_choice(letter)) << question.text;
  }
  EXPECT_EQ(std::ranges::count_if(
                question.choose,
                [](const auto& each) { return each.first.relation == Relation::otherwise; }),
            question.choose.empty() ? 0 : 1)
      << question.text;
  std::set<Source> sources;
  for (const KnownBy& by : question.known_by) {
    sources.insert(by.source);
    EXPECT_TRUE(by.choice == 0 || is_choice(by.choice)) << question.text;
    EXPECT_FALSE(by.choice == 0 && !question.choices.empty() && question.choose.empty())
        << question.text;
  }
  // Who can reason needs no assumption.
  EXPECT_FALSE(sources.contains(Source::assumed) && sources.contains(Source::reasoned))
      << question.text;
}

TEST(Lessons, AreWellFormed) {
  int number = 0;
  for (const Lesson& each : all_lessons()) {
    EXPECT_EQ(each.number, ++number);
    std::set<std::string> names;
    for (const LessonStep& step : each.steps) {
      EXPECT_TRUE(names.insert(step.name).second) << step.name;
      EXPECT_FALSE(step.questions.empty()) << step.name;
      EXPECT_EQ(step.exercise != 0, step.command.starts_with("try")) << step.name;
      for (const std::string& name : step.gpu_pitfalls) {
        EXPECT_THAT(names_in(all_pitfalls()), Contains(name));
      }
      if (!step.peer.empty()) {
        EXPECT_THAT(peer_names(), Contains(step.peer));
      }
      for (const StepTable& table : step.tables) {
        EXPECT_FALSE(table.rows.empty() || table.columns.empty()) << step.name;
      }
      for (const Question& question : step.questions) {
        expect_well_formed(question);
      }
    }
  }
  EXPECT_EQ(number, 5);
}

TEST(Lessons, WordsHaveAFullAndAQuickSide) {
  EXPECT_EQ(worded("T = {1024|16}, {a b|} or {|c}", false), "T = 1024, a b or ");
  EXPECT_EQ(worded("T = {1024|16}, {a b|} or {|c}", true), "T = 16,  or c");
}

struct Typed {
  const char* text;
  const char* unit;
  const char* kept; ///< nullptr: not understood
};

TEST(Guess, IsUnderstoodAsPeopleTypeIt) {
  constexpr std::array typed{
      Typed{" 10x ", "times", "10"},
      Typed{"10 times", "times", "10"},
      Typed{"10 times faster", "times", "10"},
      Typed{"10x as fast", "times", "10"},
      Typed{"~3", "times", "3"},
      Typed{"about 3", "times", "3"},
      Typed{"3?", "times", "3"},
      Typed{"\u00d73", "times", nullptr},
      Typed{"0,5", "times", "0.5"},
      Typed{".5", "times", "0.5"},
      Typed{"1.5", "times", "1.5"},
      Typed{"=4", "times", "4"},
      Typed{"15 X", "times", "15"},
      Typed{"5 GB/s", "GB/s", "5"},
      Typed{"5GB/s", "GB/s", "5"},
      Typed{"5 gb/s", "GB/s", "5"},
      Typed{"5 GB", "GB/s", "5"},
      Typed{"500 MB/s", "GB/s", "0.5"},
      Typed{"12.5 GiB/s", "GB/s", "13.4218"},
      Typed{"1 TB/s", "GB/s", "1000"},
      Typed{"20us", "us", "20"},
      Typed{"20 us", "us", "20"},
      Typed{"20 \u00b5s", "us", "20"},
      Typed{"20 \u03bcs", "us", "20"},
      Typed{"0.02 ms", "us", "20"},
      Typed{"300ns", "us", "0.3"},
      Typed{"1 s", "ms", "1000"},
      Typed{"3 MiB", "MiB", "3"},
      Typed{"3.1 MB", "MiB", "2.95639"},
      Typed{"3200 KiB", "MiB", "3.125"},
      Typed{"3mib", "MiB", "3"},
      Typed{"12 %", "%", "12"},
      Typed{"87.5%", "%", "87.5"},
      Typed{"87", "%", "87"},
      Typed{"703,142", "parameters", "703142"},
      Typed{"1,000,000", "parameters", "1000000"},
      Typed{"700k", "parameters", "700000"},
      Typed{"700 K", "parameters", "700000"},
      Typed{"0.7 million", "parameters", "700000"},
      Typed{"7e5", "parameters", "700000"},
      Typed{"1 launch", "launches", nullptr},
      Typed{"2 launches", "launches", "2"},
  };
  for (const Typed& each : typed) {
    const GuessText read = read_guess(each.text, each.unit, 0);
    EXPECT_EQ(read.guess,
              each.kept == nullptr ? std::nullopt : std::optional<std::string>(each.kept))
        << each.text << ": " << read.complaint;
    EXPECT_EQ(read.guess.has_value(), read.complaint.empty()) << each.text;
  }
}

TEST(Guess, HasTheUnitOfEveryQuestion) {
  for (const Lesson& lesson : all_lessons()) {
    for (const LessonStep& step : lesson.steps) {
      for (const Question& question : step.questions) {
        if (question.choices.empty()) {
          const std::string& unit = question.unit;
          EXPECT_EQ(read_guess("~2 " + unit, unit, 0).guess, "2") << question.text;
          const bool counted =
              unit == "times" || unit == "copies" || unit == "parameters" || unit == "launches";
          EXPECT_EQ(read_guess("2k", unit, 0).guess,
                    counted ? std::optional<std::string>("2000") : std::nullopt)
              << question.text;
        }
      }
    }
  }
}

TEST(Guess, IsNotWhatCouldMeanTwoThings) {
  for (const auto& [text, unit] :
       std::array<std::pair<const char*, const char*>, 17>{{{"", "times"},
                                                            {"0", "times"},
                                                            {"-1", "times"},
                                                            {"nan", "times"},
                                                            {"inf", "times"},
                                                            {"many", "times"},
                                                            {"1,00,000", "times"},
                                                            {"1,000,00", "times"},
                                                            {"5-10", "times"},
                                                            {"5 to 10", "times"},
                                                            {"10 times slower", "times"},
                                                            {"300 %", "times"},
                                                            {"20 us", "times"},
                                                            {"5 Gb/s", "GB/s"},
                                                            {"5 Gbit/s", "GB/s"},
                                                            {"5 times", "GB/s"},
                                                            {"3 ms", "GB/s"}}}) {
    EXPECT_EQ(read_guess(text, unit, 0).guess, std::nullopt) << text;
  }
  EXPECT_EQ(read_guess("20 us", "times", 0).complaint, "20 us: the answer is in times");
}

TEST(Guess, IsTheLetterOfAChoice) {
  for (const char* b : {"b", "B)", " (b) ", "b."}) {
    EXPECT_EQ(read_guess(b, "", 3).guess, "b") << b;
  }
  for (const char* no_choice : {"", "d", "ab", "1", "!", "\x80"}) {
    EXPECT_EQ(read_guess(no_choice, "", 3).guess, std::nullopt) << no_choice;
  }
  EXPECT_EQ(read_guess("d", "", 3).complaint, "d is none of a to c");
}

TEST(Guess, LeavesALesson) {
  for (const char* word : {"q", " Q ", "quit", "exit"}) {
    EXPECT_TRUE(wants_to_leave(word)) << word;
  }
  for (const char* word : {"", "a", "10", "quite"}) {
    EXPECT_FALSE(wants_to_leave(word)) << word;
  }
}

TEST(Guess, IsRightUpToAFactor) {
  const Answer answer = Answer{.source = Source::measured, .figure = {8, 8}};
  EXPECT_TRUE(grade("4", answer, 2).right);
  EXPECT_TRUE(grade("16", answer, 2).right);
  EXPECT_EQ(grade("2", answer, 2).text, "4.00 times too low");
  EXPECT_EQ(grade("80", answer, 2).text, "10.0 times too high");
  EXPECT_EQ(grade("", answer, 2).text, "");
  const Answer span = Answer{.source = Source::assumed, .figure = {10, 40}};
  EXPECT_TRUE(grade("5", span, 2).right);
  EXPECT_EQ(grade("2", span, 2).text, "5.00 times too low");
  EXPECT_TRUE(grade("b", Answer{.source = Source::reasoned, .choice = 'b'}, 2).right);
  EXPECT_EQ(grade("a", Answer{.source = Source::reasoned, .choice = 'b'}, 2).text, "wrong");
  EXPECT_EQ(grade("3", Answer{}, 2).text, "");
}

TEST(Guess, IsKeptInAFile) {
  const TemporaryDirectory place;
  const auto path = place.path() / "guesses.txt";
  GuessFile(path).keep("2.3", "47");
  GuessFile again(path);
  again.keep("2.4", "b");
  again.keep("2.5", "");
  EXPECT_EQ(GuessFile(path).find("2.3"), "47");
  EXPECT_EQ(GuessFile(path).find("2.4"), "b");
  EXPECT_EQ(GuessFile(path).find("2.5"), "");
}

Value parsed(const char* text) { return value_of(nlohmann::ordered_json::parse(text)); }

/// Of the question of a lesson whose text begins so.
Answer answer_to(const Lesson& lesson, std::string_view text, const Value& own) {
  const AssumedCard card = find_assumed_card("h200");
  for (const LessonStep& step : lesson.steps) {
    for (const Question& question : step.questions) {
      if (question.text.starts_with(text)) {
        return answer_of(question, {own, card});
      }
    }
  }
  ADD_FAILURE() << text;
  return {};
}

TEST(Answers, OfAGpuAreMeasuredWhereThereIsOneAndElseAssumed) {
  const char* question = "The field stays on that GPU";
  const Answer here = answer_to(all_lessons()[0], question, parsed(R"({"residency": {
      "results": [{"kernel": "cuda", "speedup_vs_best_cpu": 55.5}]}})"));
  EXPECT_EQ(here.source, Source::measured);
  EXPECT_EQ(answer_text(here), "55.5");
  const Answer assumed_there = answer_to(all_lessons()[0], question, parsed(R"({"residency": {
      "results": [], "assumed": {"rows": [
      {"kernel": "cuda", "times_best_cpu": {"low": 2, "high": 20}}]}}})"));
  EXPECT_EQ(assumed_there.source, Source::assumed);
  EXPECT_EQ(answer_text(assumed_there), "2.00 to 20.0");
}

TEST(Answers, AreAbsentWhereTheResultHasNone) {
  const Answer untimed = answer_to(all_lessons()[3], "One thread's time", parsed(R"({"mlp_scaling":
      {"results": [{"device": "cpu", "status": "ok", "speedup": null}]}})"));
  EXPECT_EQ(untimed.source, Source::absent);
  EXPECT_EQ(answer_text(untimed), "");
  const Value no_figures = Value::object();
  for (const Lesson& each : all_lessons()) {
    for (const LessonStep& step : each.steps) {
      for (const StepTable& table : step.tables) {
        EXPECT_EQ(table_text(table, {no_figures, find_assumed_card("t4")}), "");
      }
      for (const Question& question : step.questions) {
        const AssumedCard card = find_assumed_card("t4");
        for (const bool quick : {false, true}) { // throws where an expression is none
          const Answer answer = answer_of(question, {no_figures, card, quick});
          EXPECT_NE(answer.source, Source::measured) << question.text;
        }
      }
    }
  }
}

TEST(Answers, SayThatTheSamplesDoNotShowIt) {
  const char* question = "How many times as long does the same work take";
  const char* row = R"({"pitfalls": [{"name": "oversubscribed-threads", "factor": 3,
                                      "misleads": null}]})";
  EXPECT_EQ(answer_to(all_lessons()[3], question, parsed(row)).source, Source::unclear);
}

class CourseTest : public testing::Test {
 protected:
  CourseTest() {
    options_.folder = (place_.path() / "lesson").string();
    options_.card = find_assumed_card("h200");
    options_.card_as_typed = "h200";
    options_.quiz = false;
    options_.name = "Ada";
    for (const char* name : {"one", "two"}) {
      lesson_.steps.push_back(
          {.name = name,
           .text = "",
           .command = name,
           .questions = {{.text = "How many?",
                          .unit = "times",
                          .known_by = {{.source = Source::measured, .expression = "x"}},
                          .why = "So it is."}}});
    }
  }

  int take() {
    return take_lesson(lesson_, options_, {out_, err_, "diffbench lesson 1"},
                       [this](const std::vector<std::string>& arguments, bool /*shows*/) {
                         return play(arguments);
                       });
  }

  /// Writes what the command would.
  int play(const std::vector<std::string>& arguments) {
    ran_.push_back(arguments.front());
    if (arguments.front() == failing_ || arguments.front() == "report") {
      return arguments.front() == "report" ? exit_unavailable : exit_not_verified;
    }
    std::ofstream(arguments.back()) << nlohmann::json{
        {"context", {{"executable", "diffbench"}}},
        {"benchmarks", nlohmann::json::array()},
        {"diffbench",
         {{"schema", 1},
          {"command", "diffbench " + arguments.front() + " --json x"},
          {"disturbed", disturbed_},
          {"x", 7}}}}.dump(1);
    return arguments.front() == with_wrong_row_ ? exit_not_verified : exit_ok;
  }

  std::string sheet() {
    std::ostringstream text;
    text << std::ifstream(place_.path() / "lesson/sheet.csv").rdbuf();
    return text.str();
  }

  TemporaryDirectory place_;
  Lesson lesson_{.number = 1, .title = "a lesson", .teaches = "", .takes = "", .steps = {}};
  CourseOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
  std::vector<std::string> ran_;
  std::string failing_;
  std::string with_wrong_row_;
  bool disturbed_ = false;
};

TEST_F(CourseTest, AsksRunsAnswersAndWritesTheSheet) {
  EXPECT_EQ(take(), exit_ok);
  EXPECT_THAT(ran_, ElementsAre("one", "two", "report"));
  EXPECT_THAT(out_.str(), HasSubstr("1.2  7.00 times (measured)\n     So it is.\n"));
  EXPECT_THAT(sheet(), MatchesRegex("name,host,date,lesson,question,text,guess,answer,unit,source,"
                                    "verdict,command,diffbench_version\n"
                                    "Ada,[^,]+,20[^,]+,1,1,How many[?],,7.00,times,measured,,"
                                    "diffbench one,[0-9.]+\n"
                                    "Ada,[^,]+,20[^,]+,1,2,How many[?],,7.00,times,measured,,"
                                    "diffbench two,[0-9.]+\n"));
}

TEST_F(CourseTest, HasNoAnswerAndNoGradeBesideOtherPrograms) {
  disturbed_ = true;
  std::filesystem::create_directory(place_.path() / "lesson");
  GuessFile(place_.path() / "lesson/guesses.txt").keep("1.1", "7");
  EXPECT_EQ(take(), exit_ok);
  EXPECT_THAT(sheet(), HasSubstr("1,1,How many?,7,,times,measured beside other programs,,"));
  EXPECT_THAT(out_.str(), HasSubstr("1.1  no answer: other programs were running\n"));
  EXPECT_THAT(out_.str(), HasSubstr("again on a quiet machine"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("guesses are right")));
}

TEST_F(CourseTest, GoesOnAfterAWrongRowAndSaysSo) {
  with_wrong_row_ = "one";
  EXPECT_EQ(take(), exit_ok);
  EXPECT_THAT(ran_, ElementsAre("one", "two", "report"));
  EXPECT_THAT(sheet(), HasSubstr("7.00,times,measured,,diffbench one,"));
  EXPECT_THAT(err_.str(), HasSubstr("a row of diffbench one was WRONG"));
}

TEST_F(CourseTest, IsTakenUpAfterACommandThatFailed) {
  failing_ = "two";
  EXPECT_EQ(take(), exit_not_verified);
  EXPECT_THAT(ran_, ElementsAre("one", "two"));
  EXPECT_THAT(sheet(), HasSubstr("diffbench one"));
  EXPECT_THAT(sheet(), Not(HasSubstr("diffbench two")));
  EXPECT_THAT(err_.str(), HasSubstr("the same command tries it again"));
  failing_.clear();
  ran_.clear();
  GuessFile(place_.path() / "lesson/guesses.txt").keep("1.1", "7");
  EXPECT_EQ(take(), exit_ok);
  EXPECT_THAT(ran_, ElementsAre("two", "report"));
  EXPECT_THAT(out_.str(), HasSubstr("your guess 7: right"));
}

TEST_F(CourseTest, RefusesAFileOfSomethingElse) {
  EXPECT_EQ(take(), exit_ok);
  lesson_.steps[0].command = "other";
  EXPECT_THROW((void)take(), InvalidInput);
  std::ofstream(place_.path() / "lesson/1-one.json") << "{";
  EXPECT_THROW((void)take(), InvalidInput);
  EXPECT_THAT(ran_, ElementsAre("one", "two", "report"));
}

TEST_F(CourseTest, KeepsResultsWhereTheSheetCannotBeWritten) {
  options_.sheet = (place_.path() / "nowhere/sheet.csv").string();
  EXPECT_THROW((void)take(), Error);
  EXPECT_TRUE(ran_.empty());
  options_.sheet = (place_.path() / "lesson/1-one.json").string();
  EXPECT_THROW((void)take(), InvalidInput);
  // One that can be written before the work, and not after it.
  options_.sheet = (place_.path() / "sheets/sheet.csv").string();
  std::filesystem::create_directory(place_.path() / "sheets");
  lesson_.steps[1].questions[0].known_by = {{.source = Source::reasoned, .expression = "1"}};
  failing_ = "";
  const auto remove_sheets = [&](const std::vector<std::string>& arguments, bool /*shows*/) {
    std::filesystem::remove_all(place_.path() / "sheets");
    return play(arguments);
  };
  EXPECT_THROW((void)take_lesson(lesson_, options_, {out_, err_, ""}, remove_sheets), Error);
  EXPECT_TRUE(std::filesystem::exists(place_.path() / "lesson/2-two.json"));
}

} // namespace
} // namespace diffbench::bench::lesson
