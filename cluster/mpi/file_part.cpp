// Each rank writes for itself, by the system's calls. In collective MPI-IO, where one rank's disk
// is full, Open MPI 4.1 leaves the others waiting inside MPI_File_write_at_all, and its
// MPI_File_close drops the error of close(2), by which network file systems report a full disk or
// quota. The parts are whole blocks, so there is nothing to collect either. No fsync, which waits
// for the disk: a field comes in many parts, and as for all files (atomic_file.cpp) the promise
// covers errors, not power cuts.
#include "file_part.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/text.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace diffbench::cluster {

namespace {

[[noreturn]] void fail(int error) { throw Error(std::generic_category().message(error)); }

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& name)
      : file_(::open(name.c_str(), O_WRONLY | O_CLOEXEC)) {
    if (file_ < 0) {
      fail(errno);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }

  void write(std::int64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(file_, bytes.data(), bytes.size(), offset);
      if (count == 0 || (count < 0 && errno != EINTR)) {
        fail(count == 0 ? ENOSPC : errno);
      }
      const ssize_t written = count < 0 ? 0 : count;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += written;
    }
  }
  void close() {
    if (::close(std::exchange(file_, -1)) != 0) {
      fail(errno);
    }
  }

 private:
  int file_;
};

} // namespace

std::string write_part(const std::filesystem::path& file, std::int64_t offset,
                       std::span<const std::byte> bytes) {
  try {
    OpenFile open(file);
    open.write(offset, bytes);
    open.close();
    return {};
  } catch (const Error& error) {
    return one_line("cannot write '" + file.string() + "': " + error.what() +
                    "; all ranks need to reach the file, and its disk needs free space");
  }
}

} // namespace diffbench::cluster
