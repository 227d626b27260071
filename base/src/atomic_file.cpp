// SPDX-License-Identifier: Apache-2.0
// The temporary lies in the target's own directory, so that the final rename stays inside one file
// system, where POSIX makes it atomic. No fsync: the promise covers errors, not power cuts.
#include "diffbench/atomic_file.hpp"

#include "diffbench/errors.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace diffbench {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw Error("cannot write '" + path.string() + "': " + why +
              "; the file needs a writable directory with free space");
}

std::string system_reason() { return errno != 0 ? std::strerror(errno) : "the write failed"; }

// Opens, writes and closes. Any of the three may be the one that meets a full disk.
void write_stream(const fs::path& target, const fs::path& shown,
                  const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream stream(target, std::ios::binary);
  if (!stream) {
    fail(shown, system_reason());
  }
  write(stream);
  stream.close();
  if (!stream) {
    fail(shown, system_reason());
  }
}

// A pipe that somebody reads, open for writing.
class HeldPipe {
 public:
  explicit HeldPipe(const fs::path& path)
      : file_(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (file_ < 0 && errno == ENXIO) {
      throw Error("cannot write '" + path.string() +
                  "': nobody reads from this pipe; start its reader first");
    }
    if (file_ < 0) {
      fail(path, system_reason());
    }
  }
  HeldPipe(const HeldPipe&) = delete;
  HeldPipe& operator=(const HeldPipe&) = delete;
  ~HeldPipe() { ::close(file_); }

 private:
  int file_;
};

// A new empty file in `directory`; its name is gone again when this object dies before `commit`.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& directory, const fs::path& shown) {
    static std::atomic<unsigned> counter{0};
    int file = -1;
    do {
      path_ = directory / (".diffbench-" + std::to_string(::getpid()) + "-" +
                           std::to_string(counter.fetch_add(1)) + ".partial");
      // O_EXCL: never through a link that somebody else laid here. EEXIST: left by a killed run.
      file = ::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0) {
      fail(shown, system_reason());
    }
    ::close(file);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) {
      ::unlink(path_.c_str());
    }
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

  void commit(const fs::path& target, const fs::path& shown) {
    std::error_code error;
    fs::rename(path_, target, error);
    if (error) {
      fail(shown, error.message());
    }
    path_.clear();
  }

 private:
  fs::path path_;
};

} // namespace

void write_atomically(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  replace_atomically(path, [&](const fs::path& place) { write_stream(place, path, write); });
}

void replace_atomically(const fs::path& path, const std::function<void(const fs::path&)>& write) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_fifo(status)) {
    const HeldPipe pipe(path); // or opening it would wait for a reader, who may never come
    write(path);
    return;
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    write(path);
    return;
  }
  // A link to a file stays a link: the file that it points to is replaced.
  fs::path target = fs::is_regular_file(status) ? fs::canonical(path, error) : path;
  if (error) {
    target = path;
  }
  TemporaryFile temporary(target.parent_path(), path);
  write(temporary.path());
  if (fs::is_regular_file(status)) {
    fs::permissions(temporary.path(), status.permissions(), error); // best effort
  }
  temporary.commit(target, path);
}

} // namespace diffbench
