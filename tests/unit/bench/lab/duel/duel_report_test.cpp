// SPDX-License-Identifier: Apache-2.0
#include "duel/duel_report.hpp"

#include "json.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

class DuelReport : public testing::Test {
 protected:
  /// After so many blocks of one pair, in which B takes so many times as long as A.
  Duel ended(DuelEnd end, int blocks, double ratio = 1.1, double block_seconds = 1) {
    Duel duel{.run = {}};
    for (int i = 0; i < blocks; ++i) {
      const auto run = [&](Side side) {
        return ProgramRun{.seconds = side == Side::b ? ratio : 1, .peak_bytes = {}};
      };
      duel.blocks.push_back(block_of_runs(Side::a, 1, run));
    }
    duel.seconds = blocks * block_seconds;
    duel.end = end;
    judge(duel, card_.rule);
    return duel;
  }
  [[nodiscard]] LabReport report(const Duel& duel) const {
    return duel_report(card_, duel, load_, false);
  }

  DuelCard card_{.a = "old", .b = "new", .rule = {}, .budget_seconds = 60};
  LoadWatch load_{[] { return std::optional<CpuAccount>(); }};
};

TEST_F(DuelReport, SaysWhichLimitEndedItAndWhatWouldHelp) {
  card_.fail_on.unclear = true;
  const LabReport by_budget = report(ended(DuelEnd::budget, 5));
  EXPECT_THAT(by_budget.sentence,
              HasSubstr("the budget of 60 s ended it; about 5 more blocks, 5.00 s, "
                        "would decide it (--budget)"));
  EXPECT_EQ(by_budget.outcome.complaint, "unclear: B (the budget of 60 s ended it)");
  EXPECT_EQ(json_of(by_budget.data)["results"][0]["ended_by"], "budget");
  card_.most_blocks = 5;
  const LabReport by_blocks = report(ended(DuelEnd::blocks, 5));
  EXPECT_THAT(by_blocks.sentence,
              HasSubstr("--blocks 5 ended it; about 5 more blocks, 5.00 s, would "
                        "decide it (--blocks)"));
  EXPECT_EQ(by_blocks.outcome.complaint, "unclear: B (--blocks 5 ended it)");
  EXPECT_THAT(report(ended(DuelEnd::blocks, 5, 1.1, 10)).sentence,
              HasSubstr("(--budget and --blocks)"));
  const std::string cut = report(ended(DuelEnd::interrupt, 3)).sentence;
  EXPECT_THAT(cut, HasSubstr("it was interrupted; about 7 more blocks"));
}

TEST_F(DuelReport, OfTheMarginItselfNamesNoLimitToRaise) {
  const std::string sentence = report(ended(DuelEnd::budget, 40, 1.0200001)).sentence;
  EXPECT_THAT(sentence, Not(HasSubstr("--budget")));
}

TEST_F(DuelReport, SaysThatOnlyTheMarginIsOpen) {
  const auto between = [&](double low, double high, int each) {
    Duel duel = ended(DuelEnd::budget, each, low);
    const Duel more = ended(DuelEnd::budget, each, high);
    duel.blocks.insert(duel.blocks.end(), more.blocks.begin(), more.blocks.end());
    judge(duel, card_.rule);
    return report(duel).sentence;
  };
  for (const auto& [low, high, words] : {std::tuple{1.01, 1.04, "slower"},
                                         {1.001, 1.021, "slower"},
                                         {1 / 1.04, 1 / 1.01, "faster"},
                                         {1 / 1.5, 1 / 1.001, "faster"},
                                         {0.99, 1.04, ""},
                                         {0.9, 1.1, ""},
                                         {1.0, 1.05, ""}}) {
    const std::string sentence = between(low, high, 20);
    EXPECT_THAT(sentence, HasSubstr("UNCLEAR: "));
    const std::string sure = std::string("it is surely ") + words +
                             ", and only whether by more than "
                             "the margin of 2 % (--margin) is open";
    EXPECT_THAT(sentence, *words != '\0' ? testing::Matcher<std::string>(HasSubstr(sure))
                                         : testing::Matcher<std::string>(Not(HasSubstr("surely"))))
        << low << " " << high;
  }
  EXPECT_THAT(between(1.1, 1.2, 20), Not(HasSubstr("surely")));
}

TEST_F(DuelReport, HasOneRatioOfTheTimes) {
  // Times that rise: the medians of the sides say that B is slower, each block that it is faster.
  Duel duel{.run = {}};
  const std::vector<std::pair<double, double>> blocks{{1, 0.9}, {2, 1.8}, {3, 2.7}, {1, 9}, {1, 9}};
  for (const auto& [a, b] : blocks) {
    const auto run = [a = a, b = b](Side side) {
      return ProgramRun{.seconds = side == Side::b ? b : a, .peak_bytes = {}};
    };
    duel.blocks.push_back(block_of_runs(Side::a, 1, run));
  }
  judge(duel, card_.rule);
  const std::string text = report(duel).text;
  EXPECT_THAT(text, testing::ContainsRegex("time +1.00 s +2.70 s +0.900"));
}

TEST_F(DuelReport, StatesTheMarginAsItWasAsked) {
  card_.rule.margin = 0.125;
  EXPECT_THAT(report(ended(DuelEnd::verdict, 10)).sentence, HasSubstr("SAME within 12.5 %"));
}

TEST_F(DuelReport, BesideOtherProgramsAgreesWithItself) {
  CpuAccount account{.cpus = 2, .usable = 2};
  const LoadWatch load([&] {
    account.wall += 1;
    account.busy += 1.5;
    return std::optional(account);
  });
  card_.fail_on.slower = 0.02;
  const Duel duel = ended(DuelEnd::verdict, 10);
  EXPECT_EQ(report(duel).outcome.exit_code, exit_regression);
  const LabReport disturbed = duel_report(card_, duel, load, false);
  EXPECT_TRUE(disturbed.disturbed);
  EXPECT_TRUE(disturbed.load_is_judged);
  EXPECT_EQ(disturbed.outcome.exit_code, exit_ok);
  EXPECT_EQ(json_of(disturbed.data)["results"][0]["verdict"], "UNCLEAR");
  EXPECT_THAT(disturbed.notes.back(), HasSubstr("--beside-load"));
  card_.beside_load = true;
  const LabReport beside = duel_report(card_, duel, load, false);
  EXPECT_FALSE(beside.disturbed);
  EXPECT_EQ(beside.outcome.exit_code, exit_regression);
  EXPECT_THAT(beside.notes.back(), HasSubstr("the verdict holds beside them"));
  const LabReport unclear = duel_report(card_, ended(DuelEnd::budget, 5), load, false);
  EXPECT_THAT(unclear.notes.back(), Not(HasSubstr("holds")));
}

} // namespace
} // namespace diffbench::bench
