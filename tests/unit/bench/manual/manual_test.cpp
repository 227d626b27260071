// SPDX-License-Identifier: Apache-2.0
// What man pages and completions are made of.
#include "completion.hpp"
#include "man_page.hpp"
#include "verbs.hpp"

#include "diffbench/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;

const VerbManual& find_verb(const std::vector<VerbManual>& manual, std::string_view path) {
  return *std::ranges::find(manual, path, &VerbManual::path);
}

// Only one that the parser takes may be offered.
TEST(Manual, EveryChoiceIsTaken) {
  int choices = 0;
  for (const VerbManual& verb : manual_of(program())) {
    for (const OptionList::Option& option : verb.options) {
      for (const std::string& choice : option.choices) {
        std::istringstream path(verb.path);
        std::vector<std::string> arguments{std::istream_iterator<std::string>(path), {}};
        if (!is_positional(option)) {
          arguments.push_back(names_of(option).back());
        }
        arguments.push_back(choice);
        if (option.name == "--snapshot-format") { // refused without this one
          arguments.insert(arguments.end(), {"--snapshot-every", "1"});
        }
        try {
          (void)parse_options(arguments, program());
        } catch (const InvalidInput& error) {
          ADD_FAILURE() << verb.name() << ": " << error.what();
        } catch (const Unavailable&) { // known, but not on this machine
        }
        ++choices;
      }
    }
  }
  EXPECT_GT(choices, 100);
}

TEST(Manual, APageNamesTheVerbsAroundIt) {
  const std::vector<VerbManual> manual = manual_of(program());
  const std::string page = man_page(find_verb(manual, "mlp"), manual);
  EXPECT_THAT(page,
              HasSubstr(".SH \"SEE ALSO\"\n\\fBdiffbench\\fR(1),\n\\fBdiffbench\\-mlp\\-train"));
  EXPECT_THAT(man_page(find_verb(manual, ""), manual), HasSubstr("\\-\\-version"));
}

// A dash or a quote would be made a typographic one, and a line that begins with a dot a macro.
TEST(Manual, APageHoldsTextAsItIs) {
  static constexpr Verb verb{"odd", "isn't a \\ at 10^3", "odd"};
  const std::string page = man_page({.path = "odd", .verb = &verb}, {});
  EXPECT_THAT(page, HasSubstr("diffbench\\-odd \\- isn\\(aqt a \\(rs at 10\\(ha3\n"));
}

TEST(Manual, AShellsQuotesAreKept) {
  static constexpr Verb verb{"odd", "isn't [so]", "odd"};
  std::vector<VerbManual> manual{{.path = "odd", .verb = &verb}};
  manual[0].options.push_back({.kind = OptionList::Kind::value,
                               .group = "",
                               .name = "--range",
                               .type = "LO:HI",
                               .help = "isn't [so]",
                               .read = {}});
  EXPECT_THAT(zsh_completion(manual),
              HasSubstr("'(--range)--range[isn'\\''t \\[so\\]]:LO\\:HI: '"));
}

} // namespace
} // namespace diffbench::bench
