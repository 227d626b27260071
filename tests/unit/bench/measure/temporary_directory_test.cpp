// SPDX-License-Identifier: Apache-2.0
#include "temporary_directory.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <optional>

namespace diffbench::bench {
namespace {

namespace fs = std::filesystem;

/// Root is nobody meanwhile: it may remove anything.
class AsAUser {
 public:
  AsAUser() {
    constexpr uid_t nobody = 65534;
    if (was_ == 0) {
      EXPECT_EQ(::seteuid(nobody), 0);
    }
  }
  AsAUser(const AsAUser&) = delete;
  AsAUser& operator=(const AsAUser&) = delete;
  ~AsAUser() { EXPECT_EQ(::seteuid(was_), 0); }

 private:
  uid_t was_ = ::geteuid();
};

TEST(TemporaryDirectory, GoesWithReadOnlyDirectoriesAndFollowsNoLink) {
  const AsAUser user;
  const TemporaryDirectory elsewhere;
  fs::permissions(elsewhere.path(), fs::perms::owner_read | fs::perms::owner_exec);
  std::optional<TemporaryDirectory> place(std::in_place);
  const fs::path path = place->path();
  fs::create_directories(path / "a" / "b");
  std::ofstream(path / "a" / "b" / "file") << "x";
  fs::create_directory_symlink(elsewhere.path(), path / "a" / "link");
  for (const fs::path& each : {path / "a" / "b", path / "a", path}) {
    fs::permissions(each, fs::perms::none);
  }
  place.reset();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(fs::status(elsewhere.path()).permissions() & fs::perms::owner_write, fs::perms::none);
}

} // namespace
} // namespace diffbench::bench
