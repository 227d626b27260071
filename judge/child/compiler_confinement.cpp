// SPDX-License-Identifier: Apache-2.0
#include "compiler_confinement.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace diffbench::tried {

namespace {

namespace fs = std::filesystem;

constexpr uid_t nobody = 65534;

constexpr std::uint64_t truncate_access = 1ULL << 14; // since the third version; headers lack it
constexpr std::uint64_t every_access = 2 * LANDLOCK_ACCESS_FS_MAKE_SYM - 1;
constexpr std::uint64_t reading =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t of_a_file = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                    LANDLOCK_ACCESS_FS_WRITE_FILE | truncate_access;

class FileRules {
 public:
  FileRules() {
    const long version =
        ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    landlock_ruleset_attr rules{};
    rules.handled_access_fs = handled_ = every_access | (version >= 3 ? truncate_access : 0);
    rules_ = version < 1 ? -1
                         : static_cast<int>(::syscall(SYS_landlock_create_ruleset, &rules,
                                                      sizeof(rules.handled_access_fs), 0));
  }

  [[nodiscard]] bool possible() const { return rules_ >= 0; }

  void allow(const fs::path& path, std::uint64_t access, int flags = 0) const {
    const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC | flags);
    struct stat facts {};
    if (file >= 0 && ::fstat(file, &facts) == 0 && !S_ISLNK(facts.st_mode)) {
      const landlock_path_beneath_attr rule{
          .allowed_access = access & handled_ & (S_ISDIR(facts.st_mode) ? ~0ULL : of_a_file),
          .parent_fd = file};
      ::syscall(SYS_landlock_add_rule, rules_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    }
    ::close(file);
  }

  void allow_reading(const fs::path& path) const {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      allow(path, reading);
    }
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      if (!entry->path().filename().string().starts_with('.')) {
        allow(entry->path(), reading, O_NOFOLLOW);
      }
    }
  }

  void keep() const { ::syscall(SYS_landlock_restrict_self, rules_, 0); }

 private:
  std::uint64_t handled_ = 0;
  int rules_ = -1;
};

bool others_can_read(std::span<char* const> paths) {
  ::setfsgid(nobody);
  ::setfsuid(nobody);
  const bool can = std::ranges::all_of(paths, [](const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ::close(file);
    return file >= 0 || ::access(path, F_OK) != 0; // as root
  });
  ::setfsuid(0);
  ::setfsgid(0);
  return can;
}

void become_nobody(const char* work_dir) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(work_dir, error), end; !error && entry != end;
       entry.increment(error)) {
    (void)!::lchown(entry->path().c_str(), nobody, nobody);
  }
  (void)!::chown(work_dir, nobody, nobody);
  (void)!::setresgid(nobody, nobody, nobody);
  (void)!::setresuid(nobody, nobody, nobody);
}

} // namespace

void confine_compiler(const char* work_dir, std::span<char* const> readable) {
  const FileRules rules;
  for (const char* system : {"/usr", "/bin", "/lib", "/lib64", "/etc/alternatives"}) {
    rules.allow(system, reading);
  }
  for (const char* system : {"/etc/ld.so.cache", "/dev/zero", "/dev/urandom"}) {
    rules.allow(system, reading);
  }
  std::ranges::for_each(readable, [&](const char* path) { rules.allow_reading(path); });
  rules.allow("/dev/null", of_a_file);
  rules.allow(work_dir, ~0ULL);
  if (::geteuid() == 0) {
    ::setgroups(0, nullptr);
    if (!rules.possible() || others_can_read(readable)) {
      become_nobody(work_dir);
    }
  }
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  rules.keep();
}

} // namespace diffbench::tried
