// SPDX-License-Identifier: Apache-2.0
#include "diffbench/line_cache.hpp"

#include "diffbench/cache_directory.hpp"
#include "diffbench/errors.hpp"
#include "scratch.hpp"

#include <sys/stat.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace diffbench {
namespace {

class LineCacheTest : public ScratchTest {
 protected:
  [[nodiscard]] LineCache cache() const { return LineCache(directory() / "below/lines"); }
};

TEST_F(LineCacheTest, FindsWhatWasStoredLast) {
  EXPECT_EQ(cache().find("a"), std::nullopt);
  cache().store("a", "1");
  cache().store("a b", "2");
  cache().store("a", "3 4");
  EXPECT_EQ(cache().find("a"), "3 4");
  EXPECT_EQ(cache().find("a b"), "2");
  EXPECT_EQ(cache().find("b"), std::nullopt);
}

// As the XDG Base Directory Specification has it.
TEST(CacheDirectory, RelativePathsAreIgnored) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const std::string before = cache != nullptr ? cache : "";
  ::setenv("XDG_CACHE_HOME", "/var/cache/somebody", 1);
  EXPECT_EQ(cache_directory(), "/var/cache/somebody/diffbench");
  ::setenv("XDG_CACHE_HOME", "relative/cache", 1);
  EXPECT_TRUE(cache_directory().empty() || cache_directory().is_absolute()) << cache_directory();
  ::setenv("XDG_CACHE_HOME", before.c_str(), 1);
}

TEST_F(LineCacheTest, KeepsOneLineOfAKey) {
  for (int i = 0; i < 3; ++i) {
    cache().store("a", "1");
    cache().store("b", "2");
  }
  std::ifstream file(directory() / "below/lines");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    ++lines;
  }
  EXPECT_EQ(lines, 2);
}

TEST_F(LineCacheTest, WaitsForNoPipe) {
  std::filesystem::create_directory(directory() / "below");
  ASSERT_EQ(::mkfifo((directory() / "below/lines").c_str(), 0600), 0);
  EXPECT_EQ(cache().find("a"), std::nullopt);
}

TEST_F(LineCacheTest, WithoutAPathKeepsNothing) {
  const LineCache none({});
  none.store("a", "1");
  EXPECT_EQ(none.find("a"), std::nullopt);
}

TEST_F(LineCacheTest, SaysWhenItCannotBeWritten) {
  put("below", "a file, and no folder");
  EXPECT_THROW(cache().store("a", "1"), Error);
  EXPECT_EQ(cache().find("a"), std::nullopt);
}

} // namespace
} // namespace diffbench
