// SPDX-License-Identifier: Apache-2.0
#include "diffbench/cluster/checkpoint_lock.hpp"

#include "diffbench/cluster/checkpoint_rotation.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace diffbench::cluster {

namespace {

namespace fs = std::filesystem;

std::string who_am_i() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(::getpid()) + " on " + host.data();
}

std::string who_has(int file) {
  std::array<char, 300> text{};
  const ssize_t count = ::pread(file, text.data(), text.size() - 1, 0);
  return count > 0 ? one_line(text.data()) : "another process";
}

/// Whoever had it before removes it when he leaves: what is locked then has no name any more.
bool has_name(int file, const fs::path& name) {
  struct stat locked {};
  struct stat named {};
  return ::fstat(file, &locked) == 0 && ::stat(name.c_str(), &named) == 0 &&
         locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

[[noreturn]] void refuse_lock(const fs::path& checkpoint, const std::string& why) {
  throw Error("cannot write checkpoint '" + checkpoint.string() + "': " + why);
}

} // namespace

CheckpointLock::CheckpointLock(const fs::path& checkpoint)
    : name_(fs::absolute(checkpoint_lock_name(checkpoint))) {
  for (;;) {
    file_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) {
      refuse_lock(checkpoint, "'" + name_.string() +
                                  "' cannot be made: " + std::generic_category().message(errno));
    }
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      const std::string who = who_has(file_);
      ::close(file_);
      refuse_lock(checkpoint,
                  who + " is writing it; wait for that run, end it, or name another file");
    }
    if (has_name(file_, name_)) {
      break;
    }
    ::close(file_);
  }
  const std::string text = who_am_i();
  // For the message of others only.
  if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, text.data(), text.size(), 0) < 0) {
    return;
  }
}

CheckpointLock::~CheckpointLock() {
  ::unlink(name_.c_str()); // while it is locked
  ::close(file_);
}

} // namespace diffbench::cluster
