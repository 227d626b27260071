// SPDX-License-Identifier: Apache-2.0
// Checkpoints of several ranks, one of which cannot: all get its error, none waits for ever, and
// the next checkpoint succeeds.
//
//   mpi_checkpoint_test FOLDER   an empty one, under mpirun
#include "diffbench/cluster/agreement.hpp"
#include "diffbench/cluster/checkpoint_rotation.hpp"
#include "diffbench/cluster/module.hpp"

#include "../unit/cluster/checkpoint_case.hpp"
#include "checkpoint_head.hpp"
#include "transport_checks.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<bool> over_quota = false;

} // namespace

// In place of the system's: as network file systems do where what was written did not fit.
extern "C" int close(int file) {
  std::error_code ignored;
  const auto name =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), ignored).filename();
  const auto result = static_cast<int>(::syscall(SYS_close, file));
  if (over_quota && name == ".quota.partial") {
    errno = EDQUOT;
    return -1;
  }
  return result;
}

namespace diffbench::cluster {
namespace {

using checks::error_of;
using checks::require;

/// A rank's share of a field, and the files that it is saved in.
class Saving {
 public:
  Saving(Transport& transport, std::filesystem::path folder)
      : transport_(transport), folder_(std::move(folder)) {
    const std::vector<std::byte> field = sample_rows(facts_.problem);
    const std::int64_t ny = facts_.problem.ny;
    const std::int64_t row = facts_.problem.nx * facts_.problem.element_bytes();
    first_row_ = ny * transport.rank() / transport.size();
    const std::int64_t end = ny * (transport.rank() + 1) / transport.size();
    rows_.assign(field.begin() + first_row_ * row, field.begin() + end * row);
    begin_ = first_row_ * row;
  }

  void write(const std::string& name) {
    save_checkpoint(&transport_, folder_ / name, facts_, first_row_, rows_);
  }
  void read(const std::string& name) {
    const ReadFile file = open_sealed(&transport_, folder_ / name);
    collectively(&transport_, [&] {
      const CheckpointContent content = read_checkpoint(file);
      require(content.facts == facts_, "other facts");
      std::vector<std::byte> read(rows_.size());
      file.read(content.cells_at + begin_, read);
      require(read == rows_, "other cells");
    });
  }
  [[nodiscard]] bool is_last() const { return transport_.rank() == transport_.size() - 1; }

 private:
  Transport& transport_;
  std::filesystem::path folder_;
  CheckpointFacts facts_ = sample_facts(Dtype::float64, 257, 4001); // 8 MB
  std::int64_t first_row_ = 0;
  std::int64_t begin_ = 0; ///< of its rows among the cells, bytes
  std::vector<std::byte> rows_;
};

void whole(Saving& saving) {
  saving.write("whole");
  saving.read("whole");
}

std::string complaint_of_writing(Saving& saving, const char* what, const std::string& name) {
  return error_of<Error>(what, [&] { saving.write(name); });
}

void require_in(const std::string& message, const std::string& part) {
  require(message.find(part) != message.npos, message);
}

/// The first part of the file, rank 0's, has room; the last rank's disk has none for its rows.
void full_disk(Saving& saving) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  if (saving.is_last()) {
    const rlimit limit = {4 << 20, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  require_in(complaint_of_writing(saving, "a full disk", "cut"), "File too large (rank ");
  ::setrlimit(RLIMIT_FSIZE, &before);
}

/// That a part did not fit shows when it is closed.
void quota(Saving& saving) {
  over_quota = saving.is_last();
  require_in(complaint_of_writing(saving, "a quota", "quota"), "uota exceeded (rank ");
  over_quota = false;
}

/// Where ranks have file systems of their own under one name.
void unseen_when_written(Saving& saving) {
  require_in(complaint_of_writing(saving, "a file that one rank does not see",
                                  saving.is_last() ? "unseen" : "seen"),
             "No such file or directory (rank ");
}

void unseen_when_read(Saving& saving) {
  const std::string message = error_of<InvalidInput>("a file that one rank does not see", [&] {
    saving.read(saving.is_last() ? "unseen" : "whole");
  });
  require_in(message, "there is no such file");
}

struct FileCheck {
  const char* name;
  void (*run)(Saving&);
};
constexpr FileCheck file_checks[] = {
    {"a full disk", full_disk},
    {"a quota", quota},
    {"unseen when written", unseen_when_written},
    {"whole", whole},
    {"unseen when read", unseen_when_read},
};

void run(const std::filesystem::path& folder) {
  const auto transport = load_module().connect(60);
  Saving saving(*transport, folder);
  for (const FileCheck& check : file_checks) {
    try {
      check.run(saving);
    } catch (const std::exception& error) {
      // The others would wait.
      transport->end_all(std::string("FAILED: ") + check.name + ": " + error.what());
    }
  }
  checks::meet(*transport);
  if (transport->rank() == 0) {
    std::printf("%zu checks, %d ranks\n", std::size(file_checks), transport->size());
  }
}

} // namespace
} // namespace diffbench::cluster

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  try {
    diffbench::cluster::run(arguments[1]);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "caught: %s\n", error.what());
    return 3;
  }
}
