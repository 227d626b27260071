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

  static std::string complaint(std::string_view name) {
    return message_of<Unavailable>([&] { static_cast<void>(load_module(name)); });
  }
};

TEST_F(ModuleTest, AMissingOneSaysWhatToInstall) {
  EXPECT_THAT(complaint("mpi"), AllOf(HasSubstr(directory() / "mpi.so"),
                                      HasSubstr("install libopenmpi-dev, configure and build")));
  EXPECT_THAT(complaint("hdf5"), HasSubstr("install libhdf5-dev, configure and build again"));
}

TEST_F(ModuleTest, WhatIsNoLibrarySaysSo) {
  put("hdf5.so", "text");
  EXPECT_THAT(complaint("hdf5"), HasSubstr("cannot be loaded"));
}

TEST_F(ModuleTest, ALibraryThatIsNoModuleSaysSo) {
  std::filesystem::create_symlink("/lib/x86_64-linux-gnu/libm.so.6", directory() / "hdf5.so");
  if (!std::filesystem::exists(directory() / "hdf5.so")) {
    GTEST_SKIP() << "no libm.so.6 where Debian has it";
  }
  EXPECT_THAT(complaint("hdf5"), HasSubstr("is not a module of this program"));
}

} // namespace
} // namespace diffbench::cluster
