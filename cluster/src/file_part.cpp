// SPDX-License-Identifier: Apache-2.0
#include "file_part.hpp"

#include "diffbench/errors.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace diffbench::cluster {

namespace {

[[noreturn]] void fail_with(int error) { throw Error(std::generic_category().message(error)); }

class OpenPart {
 public:
  explicit OpenPart(const std::filesystem::path& name)
      : file_(::open(name.c_str(), O_WRONLY | O_CLOEXEC)) {
    if (file_ < 0) {
      fail_with(errno);
    }
  }
  OpenPart(const OpenPart&) = delete;
  OpenPart& operator=(const OpenPart&) = delete;
  ~OpenPart() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }

  void write(std::int64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(file_, bytes.data(), bytes.size(), offset);
      if (count == 0 || (count < 0 && errno != EINTR)) {
        fail_with(count == 0 ? ENOSPC : errno);
      }
      const ssize_t written = count < 0 ? 0 : count;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += written;
    }
  }
  void flush() const {
    if (::fdatasync(file_) != 0 && errno != EINVAL) { // EINVAL: there is nothing behind it
      fail_with(errno);
    }
  }
  void close() {
    if (::close(std::exchange(file_, -1)) != 0) {
      fail_with(errno);
    }
  }

 private:
  int file_;
};

} // namespace

void write_part(const std::filesystem::path& file, std::int64_t offset,
                std::span<const std::byte> bytes, Flush flush) {
  OpenPart part(file);
  part.write(offset, bytes);
  if (flush == Flush::yes) {
    part.flush();
  }
  part.close();
}

} // namespace diffbench::cluster
