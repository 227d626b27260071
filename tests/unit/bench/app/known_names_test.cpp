// SPDX-License-Identifier: Apache-2.0
// What is suggested for a name that is misspelt.
#include "diffbench/known_names.hpp"

#include "command_line.hpp"
#include "diffbench/errors.hpp"
#include "verbs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace diffbench::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string message_of(const std::vector<std::string>& arguments) {
  try {
    (void)parse_options(arguments, program());
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no mistake";
}

struct Misspelt {
  std::vector<std::string> arguments;
  std::string meant;
};

TEST(DidYouMean, FindsWhatWasMeant) {
  const std::vector<Misspelt> cases{
      {{"--gird", "640"}, "--grid"},
      {{"--grids", "640"}, "--grid"},
      {{"--iter", "10"}, "--iters"},
      {{"--iterations", "10"}, "--iters"},
      {{"--itres", "10"}, "--iters"},
      {{"--pined"}, "--pinned"},
      {{"--dytpe", "float64"}, "--dtype"},
      {{"--bakend", "simd"}, "--backend"},
      {{"--backends", "simd"}, "--backend"},
      {{"--boundry", "periodic"}, "--boundary"},
      {{"--trasnfer", "pinned"}, "--transfer"},
      {{"--thread", "2"}, "--threads"},
      {{"--jsn", "out.json"}, "--json"},
      {{"run", "--snapshot_every", "10"}, "--snapshot-every"},
      {{"--no-progres"}, "--no-progress"},
      {{"swep"}, "sweep"},
      {{"docter"}, "doctor"},
      {{"residancy"}, "residency"},
      {{"advis"}, "advise"},
      {{"advice"}, "advise"},
      {{"comapre"}, "compare"},
      {{"pitfall"}, "pitfalls"},
      {{"mlp", "trian"}, "train"},
      {{"cluster", "string"}, "strong"},
      {{"help", "scalling"}, "scaling"},
      {{"sweep", "--croos", "simd"}, "--cross"},
      {{"--backend", "smid"}, "simd"},
      {{"--backend", "xtensor-rol"}, "xtensor_roll"},
      {{"--peer", "nunpy"}, "numpy"},
      {{"--transfer", "Pinned"}, "pinned"},
      {{"--boundary", "neuman"}, "neumann"},
      {{"--dtype", "flaot64"}, "float64"},
  };
  std::vector<std::string> missed;
  for (const Misspelt& each : cases) {
    const std::string message = message_of(each.arguments);
    if (message.find("did you mean '" + each.meant + "'?") == std::string::npos) {
      missed.push_back(message);
    }
  }
  EXPECT_THAT(missed, testing::SizeIs(testing::Le(cases.size() / 10)))
      << testing::PrintToString(missed);
}

TEST(DidYouMean, SaysNothingWhereNothingIsNear) {
  for (const std::string wrong : {"", "x", "nosuch", "torus", "thrust", "si"}) {
    EXPECT_EQ(did_you_mean(wrong, {"simd", "fused", "thrust_roll", "thrust_fused", "periodic"}), "")
        << wrong;
  }
  EXPECT_THAT(message_of({"--nosuch"}), Not(HasSubstr("did you mean")));
}

TEST(DidYouMean, TellsTheList) {
  EXPECT_STREQ(unknown_name("backend", "smid", {"scalar", "simd"}).what(),
               "unknown backend 'smid', did you mean 'simd'? Valid: scalar, simd");
}

TEST(DidYouMean, NamesTheFirstThatIsWrong) {
  EXPECT_THAT(message_of({"--itres=3", "swep"}), HasSubstr("--itres: there is no such option"));
  EXPECT_THAT(message_of({"list", "extra"}), HasSubstr("extra: no argument is expected here"));
  EXPECT_THAT(message_of({"swep", "--help"}), HasSubstr("swep: there is no such verb"));
}

} // namespace
} // namespace diffbench::bench
