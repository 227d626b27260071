// SPDX-License-Identifier: Apache-2.0
#include "command_words.hpp"

#include "diffbench/errors.hpp"

#include <gmock/gmock.h>

namespace diffbench::bench {
namespace {

using testing::ElementsAre;

TEST(CommandWords, AreSplitAtBlanks) {
  EXPECT_THAT(command_words("./prog  -n 5\t--fast\n"), ElementsAre("./prog", "-n", "5", "--fast"));
  EXPECT_THAT(command_words("prog --x=1 a~b a#b {n}"),
              ElementsAre("prog", "--x=1", "a~b", "a#b", "{n}"));
}

// Each checked with sh -c 'printf "<%s>\n" ...'.
TEST(CommandWords, AreQuotedAsAShellQuotes) {
  EXPECT_THAT(command_words(R"(prog 'a b' "c d" e\ f '')"),
              ElementsAre("prog", "a b", "c d", "e f", ""));
  EXPECT_THAT(command_words(R"(prog '$x|"\' "\"\\\$\n" a'b'"c")"),
              ElementsAre("prog", R"($x|"\)", R"("\$\n)", "abc"));
}

TEST(CommandWords, RefuseWhatIsForAShell) {
  for (const char* command :
       {"a | b", "a > b", "a < b", "a; b", "a & b", "a $x", "a `b`", "a *", "a b?", "a [b]", "(a)",
        "X=1 a", "a ~", "a #b", R"(a "$x")", R"(a "`b`")"}) {
    EXPECT_THROW((void)command_words(command), InvalidInput) << command;
  }
}

TEST(CommandWords, RefuseWhatDoesNotEnd) {
  for (const char* command : {"a 'b", R"(a "b)", "a \\", "", "  "}) {
    EXPECT_THROW((void)command_words(command), InvalidInput) << command;
  }
}

TEST(ArgumentWords, AreQuotedAndMeanNothingToAShell) {
  EXPECT_THAT(argument_words("  -O2\t'-DFOUR=(float) 4' -DA=\"b c\" x\\ y"),
              ElementsAre("-O2", "-DFOUR=(float) 4", "-DA=b c", "x y"));
  EXPECT_THAT(argument_words("-DN=4 -Wl,-rpath,$ORIGIN -I~/a *.c #"),
              ElementsAre("-DN=4", "-Wl,-rpath,$ORIGIN", "-I~/a", "*.c", "#"));
  EXPECT_THAT(argument_words(""), ElementsAre());
  EXPECT_THROW((void)argument_words("-DA='b"), InvalidInput);
}

} // namespace
} // namespace diffbench::bench
