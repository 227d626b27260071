// SPDX-License-Identifier: Apache-2.0
// Lessons as their authors write them: expressions over a result, faults told with file and line.
#include "lesson/expression.hpp"
#include "lesson/lesson.hpp"

#include "diffbench/errors.hpp"
#include "json.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace diffbench::bench::lesson {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Expressions : public testing::Test {
 protected:
  [[nodiscard]] Assumption of(std::string_view expression) const {
    return evaluate(expression, {own_, card_});
  }
  [[nodiscard]] double figure_at(std::string_view expression) const {
    const auto [low, high] = of(expression);
    EXPECT_TRUE(low == high || (std::isnan(low) && std::isnan(high))) << expression;
    return low;
  }

  AssumedCard card_ = find_assumed_card("h200");
  Value own_ = value_of(nlohmann::ordered_json::parse(R"({
      "x": 6, "text": "six", "span": {"low": 2, "high": 4},
      "rows": [{"name": "a", "every": null, "us": 8, "points": [{"t": 1}, {"t": 2}]},
               {"name": "b c", "every": 1, "us": 2, "points": [{"t": 3}]},
               {"name": "a", "every": 1, "us": null, "points": []},
               {"name": "d", "every": 10, "us": 8}]})"));
};

TEST_F(Expressions, AreComputedAsUsual) {
  EXPECT_EQ(figure_at("2"), 2);
  EXPECT_EQ(figure_at(" 1 + 2 * 3 - 4 / 2 "), 5);
  EXPECT_EQ(figure_at("(1 + 2) * 3"), 9);
  EXPECT_EQ(figure_at("8 - 2 - 1"), 5);
  EXPECT_EQ(figure_at("1e6 * x"), 6e6);
  EXPECT_EQ(figure_at("1e-3*x"), 0.006);
  EXPECT_EQ(figure_at("0.5 * x"), 3);
}

TEST_F(Expressions, FindFiguresInListsByWhatStandsBesideThem) {
  EXPECT_EQ(figure_at("rows.us"), 8);
  EXPECT_EQ(figure_at("rows[name=b c].us"), 2);
  EXPECT_EQ(figure_at("rows[every=null].us"), 8);
  EXPECT_EQ(figure_at("rows[name=x|d].every"), 10);
  EXPECT_EQ(figure_at("rows[1].us"), 2);
  EXPECT_EQ(figure_at("rows[-1].every"), 10);
  EXPECT_EQ(figure_at("rows[name=a][-1].every"), 1);
  EXPECT_EQ(figure_at("rows.points[-1].t"), 3);
  EXPECT_EQ(figure_at("rows[0].points[-1].t"), 2);
  EXPECT_EQ(figure_at("least(rows.us)"), 2);
  EXPECT_EQ(figure_at("distinct(rows.us)"), 2);
  for (const char* absent :
       {"missing", "rows[name=a,every=1].points.t", "text", "rows[7].us", "rows[-5].us",
        "rows[name=z].us", "x / missing", "least(missing)", "distinct(text)", "rows.name"}) {
    EXPECT_TRUE(std::isnan(of(absent).low)) << absent;
  }
  EXPECT_EQ(values_at("rows.every", {own_, card_}).size(), 3) << "null is not there";
}

// Beside other programs.
TEST_F(Expressions, HaveTheWidthOfTheFigureOrOfItsRowOrOfTheRun) {
  const Value own = value_of(nlohmann::ordered_json::parse(R"({
      "ratio": 3.5, "count": 7, "span": {"low": 2.5, "high": 4.5},
      "rows": [{"name": "a", "us": 8.5, "pace": 2.5, "pace_width": {"low": 0.5, "high": 4},
                "width": {"low": 0.5, "high": 1.25}},
               {"name": "b", "us": 4.5, "width": {"low": 1, "high": 2}}]})"));
  const auto ends = [&](std::string_view expression) {
    const auto [low, high] =
        evaluate(expression, {own, card_, false, Width{.low = 0.5, .high = 2}});
    return std::pair(low, high);
  };
  EXPECT_EQ(ends("ratio"), std::pair(3.5 / 4, 3.5 * 4)) << "of any two times of the run";
  EXPECT_EQ(ends("rows.pace"), std::pair(1.25, 10.0));
  EXPECT_EQ(ends("rows[name=a].us"), std::pair(4.25, 17.0)) << "or a rate, the other way round";
  EXPECT_EQ(ends("least(rows.us)"), std::pair(2.25, 9.0));
  EXPECT_EQ(ends("count"), std::pair(7.0, 7.0));
  EXPECT_EQ(ends("span"), std::pair(2.5, 4.5));
  EXPECT_EQ(ends("distinct(rows.us)"), std::pair(2.0, 2.0));
}

TEST_F(Expressions, HaveTheEndsOfASpan) {
  const auto [low, high] = of("span / x");
  EXPECT_EQ(low, 2.0 / 6);
  EXPECT_EQ(high, 4.0 / 6);
  EXPECT_EQ(of("x / span").low, 1.5);
  EXPECT_EQ(of("x / span").high, 3);
  EXPECT_EQ(of("x - span").low, 2);
  EXPECT_EQ(of("card.launch_us").high, card_.launch.high / 1e-6);
  EXPECT_EQ(of("card.pinned_h2d_gb_per_s / card.pageable_h2d_gb_per_s").low,
            (card_.pinned_h2d.low / 1e9) / (card_.pageable_h2d.high / 1e9));
}

TEST_F(Expressions, ThatAreNoneAreRefusedWithTheirPlace) {
  for (const auto& [text, complaint] : std::array<std::pair<const char*, const char*>, 11>{{
           {"", "a number or a name is expected at character 1"},
           {"1 +", "a number or a name is expected at character 4"},
           {"(1", "')' is expected at character 3"},
           {"1 2", "an operator or the end is expected at character 3"},
           {"rows[name=a", "']' is expected"},
           {"rows[name].us", "key=value or a number is expected"},
           {"rows[=a].us", "key=value"},
           {"rows.", "a number or a name is expected at character 6"},
           {"most(rows.us)", "least or distinct is expected at character 1"},
           {"card", "'.' is expected"},
           {"card.launch_ms", "did you mean 'launch_us'?"},
       }}) {
    try {
      (void)of(text);
      ADD_FAILURE() << text;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(complaint)) << text;
    }
  }
}

/// A lesson of one question, the lines of which are `question`, from line 9 on.
std::string lesson_with(const std::string& question, const std::string& command = "--grid 64") {
  return "number = 6\ntitle = \"t\"\nteaches = \"u\"\n[[step]]\nname = \"one\"\ntext = \"w\"\n"
         "command = \"" +
         command + "\"\n[[step.question]]\n" + question;
}

Question question_of(const std::string& text) {
  return read_lesson(lesson_with(text)).steps[0].questions[0];
}

TEST(LessonText, IsReadAsItsAuthorWrapsIt) {
  const Question question = question_of(
      "text = \"\"\"\nHow  many,\n  {1|2}?\"\"\"\nunit = \"us\"\nmeasured = [\"a\", \"b\"]\n"
      "assumed = \"card.context_ms\"\nwhy = \"So.\"\ntolerance = 3\n");
  EXPECT_EQ(question.text, "How many, {1|2}?");
  EXPECT_EQ(question.known_by.size(), 3);
  EXPECT_EQ(question.known_by[2].source, Source::assumed);
  EXPECT_EQ(question.tolerance, 3);
  EXPECT_EQ(question.why, "So.");
}

TEST(LessonText, ExplainsTheAnswerThatCameOut) {
  const Question question = question_of(
      "text = \"?\"\nchoices = [\"less\", \"the same\", \"more\"]\nmeasured = \"x\"\n"
      "choose = {a = \"< 1\", b = \"else\", c = \"> 2\"}\nclear = \"sure\"\nreasoned = \"b\"\n"
      "why.a = \"Few.\"\nwhy.else = \"Not few.\"\n");
  const AssumedCard card;
  const auto answer = [&](const char* json) {
    const Value own = value_of(nlohmann::ordered_json::parse(json));
    return answer_of(question, {own, card});
  };
  EXPECT_EQ(answer(R"({"x": 0.5, "sure": 1})").choice, 'a');
  EXPECT_EQ(answer(R"({"x": 1, "sure": 1})").choice, 'b');
  EXPECT_EQ(answer(R"({"x": 2, "sure": 1})").choice, 'b');
  EXPECT_EQ(answer(R"({"x": 3, "sure": 1})").choice, 'c');
  EXPECT_EQ(answer(R"({"x": {"low": 0.5, "high": 3}, "sure": 1})").choice, 'b');
  EXPECT_EQ(answer(R"({"x": 3, "sure": 1})").source, Source::measured);
  EXPECT_EQ(answer(R"({"x": 3})").source, Source::unclear);
  EXPECT_EQ(answer("{}").source, Source::reasoned);
  EXPECT_EQ(why(question, {.source = Source::measured, .choice = 'a'}), "Few.");
  EXPECT_EQ(why(question, {.source = Source::measured, .choice = 'c'}), "Not few.");
}

TEST(LessonText, HasTheTablesOfItsSteps) {
  const Lesson lesson = read_lesson(
      "number = 1\n[[step]]\n[[step.table]]\nrows = [\"rows[a={1|2}]\", \"assumed.rows\"]\n"
      "columns = [[\"row\", \"name\"], [\"a step\", \"t\", \"s\"], [\"right\", \"ok\"]]\n");
  const AssumedCard card = find_assumed_card("t4");
  const StepTable& table = lesson.steps.at(0).tables.at(0);
  const auto shown = [&](const char* json, bool quick) {
    const Value own = value_of(nlohmann::ordered_json::parse(json));
    return table_text(table, {own, card, quick});
  };
  const char* measured = R"({"rows": [{"a": 1, "name": "x", "t": 2e-6, "ok": true},
                                      {"a": 2, "name": "y", "t": 3e-6, "ok": false}]})";
  EXPECT_EQ(shown(measured, false),
            "\nrow   a step  right\n-------------------\nx    2.00 us    yes\n");
  EXPECT_EQ(shown(measured, true),
            "\nrow   a step  right\n-------------------\ny    3.00 us     no\n");
  EXPECT_EQ(
      shown(R"({"assumed": {"rows": [{"name": "z", "t": {"low": 1e-6, "high": 2e-6}}]}})", true),
      "\nassumed, not measured (t4):\nrow           a step\n--------------------\n"
      "z    1.00 to 2.00 us\n");
  EXPECT_EQ(shown("{}", true), "");
}

} // namespace
} // namespace diffbench::bench::lesson
