// SPDX-License-Identifier: Apache-2.0
// The order of the names. With PATH the newest checkpoint A, PATH.previous the one before it, and a
// new one C, complete and on the disk under a temporary name:
//
//   write   the seal behind its end       see checkpoint_seal.hpp
//   link    PATH -> .PATH.link            A has two names
//   rename  .PATH.link -> PATH.previous   A is both; the oldest is gone
//   rename  temporary -> PATH             C is the newest, A the one before
//
// Each of them is atomic (POSIX), so a kill between any two leaves PATH a complete checkpoint. On a
// file system without hard links PATH itself is renamed to PATH.previous: a kill right after that
// leaves PATH.previous complete and PATH missing, which require_checkpoint() reports. Against a
// power cut the data is on the disk before the names change, and the names before the call returns.
#include "diffbench/cluster/checkpoint_rotation.hpp"

#include "checkpoint_head.hpp"
#include "checkpoint_seal.hpp"
#include "file_part.hpp"

#include "diffbench/cluster/agreement.hpp"
#include "diffbench/errors.hpp"

#include <cerrno>
#include <iterator>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace diffbench::cluster {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& why) { throw Error(why); }

std::string reason(int error) { return std::generic_category().message(error); }

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Hidden, beside it, the same in each run: what a killed run has left is overwritten by the next.
fs::path hidden_name(const fs::path& path, const char* suffix) {
  return directory_of(path) / ("." + path.filename().string() + suffix);
}

void check_target(const fs::path& path) {
  const std::string target = "cannot write checkpoint '" + path.string() + "': ";
  std::error_code ignored;
  if (!path.has_filename() || !fs::is_directory(directory_of(path), ignored)) {
    throw InvalidInput(target + "'" + directory_of(path).string() +
                       "' is not a directory; make it, or name a file in another one");
  }
  for (const fs::path& name : {path, previous_checkpoint(path)}) {
    const fs::file_status status = fs::symlink_status(name, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      throw InvalidInput(target + "'" + name.string() +
                         "' exists and is not a regular file; name another one");
    }
  }
}

void remove_if_there(const fs::path& name) {
  if (::unlink(name.c_str()) != 0 && errno != ENOENT) {
    fail("'" + name.string() + "' is in the way: " + reason(errno));
  }
}

// Some file systems cannot be asked about a directory (EINVAL); they order names themselves.
void flush_names(const fs::path& directory) {
  const int file = ::open(directory.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_flushed = file >= 0 && (::fsync(file) == 0 || errno == EINVAL);
  const int error = errno;
  if (file >= 0) {
    ::close(file);
  }
  if (!is_flushed) {
    fail("flushing it to the disk failed: " + reason(error));
  }
}

void rename_to(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    fail("'" + to.string() + "' cannot be replaced: " + reason(errno));
  }
}

void keep_as_previous(const fs::path& path) {
  const fs::path second_name = hidden_name(path, ".link");
  ::unlink(second_name.c_str());
  if (::link(path.c_str(), second_name.c_str()) != 0) {
    if (errno != ENOENT) { // ENOENT: there is no checkpoint yet
      rename_to(path, previous_checkpoint(path));
    }
    return;
  }
  try {
    rename_to(second_name, previous_checkpoint(path));
  } catch (const Error&) {
    ::unlink(second_name.c_str());
    throw;
  }
  // rename() leaves both where they are one file already: a killed run came as far as here.
  ::unlink(second_name.c_str());
}

void publish(const fs::path& temporary, const fs::path& path) {
  keep_as_previous(path);
  rename_to(temporary, path);
  flush_names(directory_of(path));
}

/// Unlinks a name in the end, if the file has not got another one by then.
class NoLongerThere {
 public:
  /// Empty: of no file.
  explicit NoLongerThere(fs::path name) : name_(std::move(name)) {}
  NoLongerThere(const NoLongerThere&) = delete;
  NoLongerThere& operator=(const NoLongerThere&) = delete;
  ~NoLongerThere() {
    if (!name_.empty()) {
      ::unlink(name_.c_str());
    }
  }

 private:
  fs::path name_;
};

/// O_EXCL: never through a link that somebody else laid here.
void create(const fs::path& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0) {
    fail(reason(errno));
  }
  ::close(file);
}

/// Collective: a complete checkpoint, sealed and on the disk, at `path`, which is not there.
void write_complete(Transport* transport, const fs::path& path, const CheckpointFacts& facts,
                    std::int64_t first_row, std::span<const std::byte> rows) {
  const bool is_first = transport == nullptr || transport->rank() == 0;
  const std::string head = checkpoint_head(facts);
  collectively(transport, [&] {
    if (is_first) {
      create(path);
      write_part(path, 0, std::as_bytes(std::span(head)), Flush::yes);
    }
  });
  const std::int64_t row_bytes = facts.problem.nx * facts.problem.element_bytes();
  const std::int64_t begin = std::ssize(head) + first_row * row_bytes;
  collectively_in_pieces(
      transport, std::ssize(rows), file_piece, [&](std::int64_t first, std::int64_t count) {
        write_part(path, begin + first,
                   rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                   Flush::yes);
      });
  const std::string seal = seal_of(transport, path);
  collectively(transport, [&] {
    if (is_first) {
      write_part(path, static_cast<std::int64_t>(fs::file_size(path)),
                 std::as_bytes(std::span(seal)), Flush::yes);
    }
  });
}

} // namespace

fs::path previous_checkpoint(const fs::path& path) { return path.string() + ".previous"; }

fs::path checkpoint_lock_name(const fs::path& path) { return hidden_name(path, ".lock"); }

std::vector<fs::path> checkpoint_companions(const fs::path& path) {
  return {previous_checkpoint(path), hidden_name(path, ".partial"), hidden_name(path, ".link"),
          checkpoint_lock_name(path)};
}

void save_checkpoint(Transport* transport, const fs::path& path, const CheckpointFacts& facts,
                     std::int64_t first_row, std::span<const std::byte> rows) {
  const bool is_first = transport == nullptr || transport->rank() == 0;
  const fs::path temporary = hidden_name(path, ".partial");
  const NoLongerThere part(is_first ? temporary : fs::path());
  collectively(transport, [&] {
    if (is_first) {
      check_target(path);
    }
  });
  try {
    collectively(transport, [&] {
      if (is_first) {
        remove_if_there(temporary);
      }
    });
    write_complete(transport, temporary, facts, first_row, rows);
    collectively(transport, [&] {
      if (is_first) {
        publish(temporary, path);
      }
    });
  } catch (const TimedOut&) {
    throw;
  } catch (const Ended&) {
    throw;
  } catch (const Error& error) {
    throw Error("cannot write checkpoint '" + path.string() + "': " + error.what() +
                "; older checkpoints are kept");
  }
}

void require_checkpoint(Transport* transport, const fs::path& path) {
  collectively(transport, [&] {
    std::error_code ignored;
    if (fs::exists(path, ignored)) {
      return;
    }
    const fs::path previous = previous_checkpoint(path);
    throw InvalidInput(
        "cannot read checkpoint '" + path.string() + "': there is no such file" +
        (fs::exists(previous, ignored)
             ? "; the one before it is there: to go on from that, name '" + previous.string() + "'"
             : "; check the path"));
  });
}

} // namespace diffbench::cluster
