// SPDX-License-Identifier: Apache-2.0
// The table of this build. tests/recipes builds one with another table.
#include "diffbench/registry.hpp"

#include "scratch.hpp"

#include <set>

#include <gmock/gmock.h>

namespace diffbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Registry, EveryBackendIsComplete) {
  std::set<std::string_view> names;
  for (const BackendInfo& backend : all_backends()) {
    EXPECT_TRUE(names.insert(backend.name).second) << backend.name << " is there twice";
    EXPECT_FALSE(backend.description.empty()) << backend.name;
    EXPECT_NE(backend.probe, nullptr) << backend.name;
    EXPECT_NE(backend.memory_need, nullptr) << backend.name;
    EXPECT_NE(backend.make<float>(), nullptr) << backend.name;
    EXPECT_NE(backend.make<double>(), nullptr) << backend.name;
  }
  EXPECT_TRUE(names.contains("scalar"));
}

TEST(Registry, TheNaiveOnesAreFirst) {
  const std::vector<BackendInfo>& ladder = all_backends();
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    EXPECT_LE(ladder[i - 1].ladder, ladder[i].ladder);
    if (ladder[i - 1].ladder == ladder[i].ladder) {
      EXPECT_LT(ladder[i - 1].name, ladder[i].name);
    }
  }
}

TEST(Registry, ABackendIsFoundByName) { EXPECT_EQ(require_backend("scalar").name, "scalar"); }

TEST(Registry, AnUnknownNameIsInvalidAndTheValidOnesAreListed) {
  const std::string message =
      message_of<InvalidInput>([] { static_cast<void>(require_backend("scalr")); });
  EXPECT_THAT(message, HasSubstr("'scalr'"));
  for (const BackendInfo& backend : all_backends()) {
    EXPECT_THAT(message, HasSubstr(std::string(backend.name)));
  }
  // Names are exact: no case folding, no prefixes.
  message_of<InvalidInput>([] { static_cast<void>(require_backend("Scalar")); });
  message_of<InvalidInput>([] { static_cast<void>(require_backend("scal")); });
  message_of<InvalidInput>([] { static_cast<void>(require_backend("")); });
}

TEST(Registry, ABackendThatIsNotCompiledIsUnavailableAndSaysHowToGetIt) {
  // None in a full build; tests/recipes has a build that leaves some out.
  for (const NotCompiled& missing : missing_backends()) {
    EXPECT_THAT(message_of<Unavailable>([&] { static_cast<void>(require_backend(missing.name)); }),
                AllOf(HasSubstr("not compiled"), HasSubstr(std::string(missing.how_to_get))));
  }
}

TEST(Registry, AMemoryNeedCoversAtLeastTheField) {
  const Problem problem{.nx = 100, .ny = 90};
  for (const BackendInfo& backend : all_backends()) {
    if (backend.probe(0).available) {
      const MemoryNeed need = backend.memory_need(problem, {});
      EXPECT_GE(need.host + need.device, problem.field_bytes()) << backend.name;
    }
  }
}

} // namespace
} // namespace diffbench
