// SPDX-License-Identifier: Apache-2.0
#include "diffbench/small_file.hpp"

#include "scratch.hpp"

#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace diffbench {
namespace {

class SmallFileTest : public ScratchTest {
 protected:
  static std::string refusal(const std::filesystem::path& path) {
    try {
      (void)text_of_small_file(path);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "taken";
  }
};

TEST_F(SmallFileTest, IsReadWholeUpToItsLimit) {
  const std::string most(1 << 20, '#');
  EXPECT_EQ(text_of_small_file(put("most", most)), most);
  EXPECT_EQ(text_of_small_file(put("none", "")), "");
  EXPECT_EQ(refusal(put("more", most + "#")), "is larger than 1 MiB");
}

TEST_F(SmallFileTest, IsARegularOne) {
  const std::filesystem::path pipe = directory() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe, directory(), directory() / "none"}) {
    EXPECT_EQ(refusal(path), "is not a regular file") << path;
  }
}

} // namespace
} // namespace diffbench
