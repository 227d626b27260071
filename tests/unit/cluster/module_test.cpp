// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/module.hpp"

#include "scratch.hpp"

#include <gmock/gmock.h>

namespace diffbench::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ModuleTest : public ScratchTest {
 public:
  ModuleTest() { ::setenv("DIFFBENCH_MODULES", directory().c_str(), 1); }
  ~ModuleTest() override { ::unsetenv("DIFFBENCH_MODULES"); }

  static std::string complaint() {
    return message_of<Unavailable>([&] { static_cast<void>(load_module()); });
  }
};

TEST_F(ModuleTest, AMissingOneSaysWhatToInstall) {
  EXPECT_THAT(complaint(), AllOf(HasSubstr(directory() / "mpi.so"),
                                 HasSubstr("install libopenmpi-dev, configure and build again")));
}

TEST_F(ModuleTest, WhatIsNoLibrarySaysSo) {
  put("mpi.so", "text");
  EXPECT_THAT(complaint(), HasSubstr("cannot be loaded"));
}

TEST_F(ModuleTest, ALibraryThatIsNoModuleSaysSo) {
  std::filesystem::create_symlink("/lib/x86_64-linux-gnu/libm.so.6", directory() / "mpi.so");
  if (!std::filesystem::exists(directory() / "mpi.so")) {
    GTEST_SKIP() << "no libm.so.6 where Debian has it";
  }
  EXPECT_THAT(complaint(), HasSubstr("is not a module of this program"));
}

} // namespace
} // namespace diffbench::cluster
