#include "diffbench/line_cache.hpp"

#include "diffbench/errors.hpp"
#include "scratch.hpp"

#include <fstream>

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
