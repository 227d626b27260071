// Lessons: guesses and what is made of them, answers with a GPU and without, and a course taken
// with commands that are played.
#include "lesson/lesson.hpp"
#include "lesson/answer.hpp"
#include "lesson/course.hpp"
#include "lesson/guesses.hpp"

#include "diffbench/errors.hpp"
#include "exit_code.hpp"
#include "json.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace diffbench::bench::lesson {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Lessons, AreWellFormed) {
  int number = 0;
  for (const Lesson& each : all_lessons()) {
    EXPECT_EQ(each.number, ++number);
    std::set<std::string_view> names;
    for (const LessonStep& step : each.steps) {
      EXPECT_TRUE(names.insert(step.name).second) << step.name;
      EXPECT_FALSE(step.questions.empty()) << step.name;
      for (const Question& question : step.questions) {
        EXPECT_NE(question.answer, nullptr) << question.text;
        EXPECT_FALSE(question.why.empty()) << question.text;
        EXPECT_NE(question.unit.empty(), question.choices.empty()) << question.text;
        EXPECT_THAT(worded(question.text, false), Not(testing::ContainsRegex("[{|}]")));
      }
    }
  }
  EXPECT_EQ(number, 5);
}

TEST(Lessons, WordsHaveAFullAndAQuickSide) {
  EXPECT_EQ(worded("T = {1024|16}, {a b|} or {|c}", false), "T = 1024, a b or ");
  EXPECT_EQ(worded("T = {1024|16}, {a b|} or {|c}", true), "T = 16,  or c");
}

TEST(Guess, IsANumberAboveZeroOrALetter) {
  EXPECT_EQ(parse_guess(" 10x ", 0), "10");
  EXPECT_EQ(parse_guess("12 %", 0), "12");
  EXPECT_EQ(parse_guess("0,5", 0), "0.5");
  EXPECT_EQ(parse_guess("0,125", 0), "0.125");
  EXPECT_EQ(parse_guess("703,142", 0), "703142");
  EXPECT_EQ(parse_guess("1,000,000", 0), "1000000");
  EXPECT_EQ(parse_guess("7e5", 0), "7e5");
  EXPECT_EQ(parse_guess("B)", 3), "b");
  for (const char* no_number :
       {"", "0", "-1", "nan", "inf", "ten", "1,00,000", "1,000,00", "=1+1"}) {
    EXPECT_EQ(parse_guess(no_number, 0), std::nullopt) << no_number;
  }
  for (const char* no_choice : {"", "d", "ab", "1", "!", "\x80"}) {
    EXPECT_EQ(parse_guess(no_choice, 3), std::nullopt) << no_choice;
  }
}

TEST(Guess, IsRightUpToAFactor) {
  const Answer answer = measured(8.0);
  EXPECT_TRUE(grade("4", answer, 2).right);
  EXPECT_TRUE(grade("16", answer, 2).right);
  EXPECT_EQ(grade("2", answer, 2).text, "4.00 times too low");
  EXPECT_EQ(grade("80", answer, 2).text, "10.0 times too high");
  EXPECT_EQ(grade("", answer, 2).text, "");
  const Answer span = assumed(Assumption{10, 40});
  EXPECT_TRUE(grade("5", span, 2).right);
  EXPECT_EQ(grade("2", span, 2).text, "5.00 times too low");
  EXPECT_TRUE(grade("b", reasoned('b'), 2).right);
  EXPECT_EQ(grade("a", reasoned('b'), 2).text, "wrong");
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
        return question.answer({own, card});
      }
    }
  }
  ADD_FAILURE() << text;
  return {};
}

TEST(Answers, OfAGpuAreMeasuredWhereThereIsOneAndElseAssumed) {
  const char* question = "The field stays on that GPU";
  const Answer here = answer_to(diffusion_lesson(), question, parsed(R"({"residency": {
      "results": [{"kernel": "cuda", "speedup_vs_best_cpu": 55.5}]}})"));
  EXPECT_EQ(here.source, Source::measured);
  EXPECT_EQ(answer_text(here), "55.5");
  const Answer assumed_there = answer_to(diffusion_lesson(), question, parsed(R"({"residency": {
      "results": [], "assumed": {"rows": [
      {"kernel": "cuda", "times_best_cpu": {"low": 2, "high": 20}}]}}})"));
  EXPECT_EQ(assumed_there.source, Source::assumed);
  EXPECT_EQ(answer_text(assumed_there), "2.00 to 20.0");
}

TEST(Answers, AreAbsentWhereTheResultHasNone) {
  const Answer one_cpu = answer_to(thread_lesson(), "One thread's time", parsed(R"({"mlp_scaling":
      {"results": [{"device": "cpu", "status": "ok", "speedup": 1}]}})"));
  EXPECT_EQ(one_cpu.source, Source::absent);
  EXPECT_EQ(answer_text(one_cpu), "");
  for (const Lesson& each : all_lessons()) {
    for (const LessonStep& step : each.steps) {
      for (const Question& question : step.questions) {
        const AssumedCard card = find_assumed_card("t4");
        const Answer answer = question.answer({Value::object(), card});
        EXPECT_NE(answer.source, Source::measured) << question.text;
      }
    }
  }
}

TEST(Answers, SayThatTheSamplesDoNotShowIt) {
  const char* question = "How many times as long does the same work take";
  const char* row = R"({"pitfalls": [{"name": "oversubscribed-threads", "factor": 3,
                                      "misleads": null}]})";
  EXPECT_EQ(answer_to(thread_lesson(), question, parsed(row)).source, Source::unclear);
}

class CourseTest : public testing::Test {
 protected:
  CourseTest() {
    options_.folder = (place_.path() / "lesson").string();
    options_.card = find_assumed_card("h200");
    options_.card_as_typed = "h200";
    options_.quiz = false;
    for (const char* name : {"one", "two"}) {
      lesson_.steps.push_back(
          {.name = name,
           .text = "",
           .command = name,
           .questions = {
               {.text = "How many?",
                .unit = "times",
                .answer = [](const StepResult& r) { return measured(figure(r.own, "x")); },
                .why = "So it is."}}});
    }
  }

  int take() {
    return take_lesson(
        lesson_, options_, {out_, err_, "diffbench lesson 1"},
        [this](const std::vector<std::string>& arguments) { return play(arguments); });
  }

  /// Writes what the command would.
  int play(const std::vector<std::string>& arguments) {
    ran_.push_back(arguments.front());
    if (arguments.front() == failing_ || arguments.front() == "report") {
      return arguments.front() == "report" ? exit_unavailable : exit_not_verified;
    }
    std::ofstream(arguments.back())
        << nlohmann::json{{"context", nlohmann::json::object()},
                          {"benchmarks", nlohmann::json::array()},
                          {"diffbench",
                           {{"schema", 1},
                            {"command", "diffbench " + arguments.front() + " --json x"},
                            {"disturbed", disturbed_},
                            {"x", 7}}}};
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
  EXPECT_EQ(sheet(),
            "lesson,question,text,guess,answer,unit,source,verdict,command\n"
            "1,1,How many?,,7.00,times,measured,,diffbench one\n"
            "1,2,How many?,,7.00,times,measured,,diffbench two\n");
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
  EXPECT_THAT(sheet(), HasSubstr("7.00,times,measured,,diffbench one\n"));
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
  lesson_.steps[1].questions[0].answer = [](const StepResult&) -> Answer { return reasoned(1.0); };
  failing_ = "";
  const auto remove_sheets = [&](const std::vector<std::string>& arguments) {
    std::filesystem::remove_all(place_.path() / "sheets");
    return play(arguments);
  };
  EXPECT_THROW((void)take_lesson(lesson_, options_, {out_, err_, ""}, remove_sheets), Error);
  EXPECT_TRUE(std::filesystem::exists(place_.path() / "lesson/2-two.json"));
}

} // namespace
} // namespace diffbench::bench::lesson
