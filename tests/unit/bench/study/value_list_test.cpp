// SPDX-License-Identifier: Apache-2.0
// Lists and ranges of a sweep's options.
#include "value_list.hpp"

#include "diffbench/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> values(const char* text) {
  const ValueList list("--grid", text, Values::numbers);
  return list.values();
}

TEST(ValueList, TakesSingleValuesAsTheyAre) {
  EXPECT_THAT(values("640"), ElementsAre("640"));
  EXPECT_THAT(values("640x480,64,640x480"), ElementsAre("640x480", "64"));
}

TEST(ValueList, GrowsByAFactor) {
  EXPECT_THAT(values("64:1024:x2"), ElementsAre("64", "128", "256", "512", "1024"));
  EXPECT_THAT(values("64:1000:x2"), ElementsAre("64", "128", "256", "512"));
  EXPECT_THAT(values("10:40:x1.5"), ElementsAre("10", "15", "23", "34"));
  EXPECT_THAT(values("1:1000000:x10").size(), 7U); // log(10^6)/log(10) is 5.999...
}

TEST(ValueList, GrowsByAStep) {
  EXPECT_THAT(values("64:256:+64"), ElementsAre("64", "128", "192", "256"));
  EXPECT_THAT(values("0.1:0.3:+0.1"), ElementsAre("0.1", "0.2", "0.3"));
  EXPECT_THAT(values("5:5:+1"), ElementsAre("5"));
  EXPECT_THAT(values("-1:1:+1"), ElementsAre("-1", "0", "1"));
}

TEST(ValueList, MixesThem) {
  EXPECT_THAT(values("8,10:12:+1,64:128:x2,11"), ElementsAre("8", "10", "11", "12", "64", "128"));
}

TEST(ValueList, CountsWithoutMakingThem) {
  EXPECT_DOUBLE_EQ(ValueList("--iters", "1:1000000000000:+1,7", Values::numbers).count(), 1e12 + 1);
}

TEST(ValueList, LeavesNamesAlone) {
  EXPECT_THAT(ValueList("--init", "a:b.npy,block", Values::words).values(),
              ElementsAre("a:b.npy", "block"));
}

TEST(ValueList, RefusesWhatIsNone) {
  const std::pair<const char*, const char*> cases[] = {{"1,,2", "empty"},
                                                       {"1,", "empty"},
                                                       {",", "empty"},
                                                       {"256:64:x2", "backwards"},
                                                       {"256:64:+64", "backwards"},
                                                       {"64:256", "LO:HI:xFACTOR"},
                                                       {"64:256:2", "LO:HI:xFACTOR"},
                                                       {"64:256:", "LO:HI:xFACTOR"},
                                                       {"a:256:x2", "LO:HI:xFACTOR"},
                                                       {"64:nan:x2", "LO:HI:xFACTOR"},
                                                       {"64:inf:x2", "LO:HI:xFACTOR"},
                                                       {"1:2:+1:3", "LO:HI:xFACTOR"},
                                                       {"64:256:x1", "no end"},
                                                       {"64:256:x0.5", "no end"},
                                                       {"0:256:x2", "no end"},
                                                       {"64:256:+0", "no end"},
                                                       {"64:256:+-1", "no end"}};
  for (const auto& [text, complaint] : cases) {
    try {
      (void)values(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(complaint)) << text;
      EXPECT_THAT(error.what(), HasSubstr("--grid")) << text;
    }
  }
}

} // namespace
} // namespace diffbench::bench
