// Checkpoints of several ranks, one of which cannot: all get its error, none waits for ever, and
// the next checkpoint succeeds.
//
//   mpi_checkpoint_test FOLDER   an empty one, under mpirun
#include "diffbench/cluster/agreement.hpp"
#include "diffbench/cluster/module.hpp"

#include "../unit/cluster/checkpoint_case.hpp"
#include "transport_checks.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/resource.h>

namespace diffbench::cluster {
namespace {

using checks::error_of;
using checks::require;

/// A rank's share of a field, and the files that it is saved in.
class Saving {
 public:
  Saving(Transport& transport, CheckpointFiles& files, std::filesystem::path folder)
      : transport_(transport), files_(files), folder_(std::move(folder)) {
    const std::vector<std::byte> field = sample_rows(facts_.problem);
    const auto row = static_cast<std::size_t>(facts_.problem.nx * facts_.problem.element_bytes());
    const std::int64_t ny = facts_.problem.ny;
    first_row_ = ny * transport.rank() / transport.size();
    const std::int64_t end = ny * (transport.rank() + 1) / transport.size();
    rows_.assign(field.begin() + first_row_ * std::ssize(field) / ny,
                 field.begin() + end * std::ssize(field) / ny);
    require(rows_.size() % row == 0, "no whole rows");
  }

  void write(const std::string& name) {
    files_.write(folder_ / name, facts_, first_row_, rows_);
    checks::meet(transport_);
  }
  void read(const std::string& name) {
    collectively(&transport_, [&] {
      require(files_.read_facts(folder_ / name) == facts_, "other facts");
      std::vector<std::byte> read(rows_.size());
      files_.read_rows(folder_ / name, first_row_, read);
      require(read == rows_, "other cells");
    });
  }
  [[nodiscard]] bool is_last() const { return transport_.rank() == transport_.size() - 1; }

 private:
  Transport& transport_;
  CheckpointFiles& files_;
  std::filesystem::path folder_;
  CheckpointFacts facts_ = sample_facts(Dtype::float64, 257, 4001); // 8 MB
  std::int64_t first_row_ = 0;
  std::vector<std::byte> rows_;
};

void whole(Saving& saving) {
  saving.write("whole");
  saving.read("whole");
}

/// The skeleton, of rank 0, has room; the last rank's disk has none for its rows.
void full_disk(Saving& saving) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  if (saving.is_last()) {
    const rlimit limit = {4 << 20, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  const std::string message = error_of<Error>("a full disk", [&] { saving.write("cut"); });
  require(message.find("writing the rows failed") != message.npos, "a full disk: " + message);
  ::setrlimit(RLIMIT_FSIZE, &before);
}

/// Where ranks have file systems of their own under one name.
void unseen_when_written(Saving& saving) {
  const std::string message = error_of<Error>("a file that one rank does not see", [&] {
    saving.write(saving.is_last() ? "unseen" : "seen");
  });
  require(message.find("No such file or directory") != message.npos, "unseen: " + message);
}

void unseen_when_read(Saving& saving) {
  const std::string message = error_of<InvalidInput>("a file that one rank does not see", [&] {
    saving.read(saving.is_last() ? "unseen" : "whole");
  });
  require(message.find("there is no such file") != message.npos, "unseen: " + message);
}

struct FileCheck {
  const char* name;
  void (*run)(Saving&);
};
constexpr FileCheck file_checks[] = {
    {"a full disk", full_disk},
    {"unseen when written", unseen_when_written},
    {"whole", whole},
    {"unseen when read", unseen_when_read},
};

void run(const std::filesystem::path& folder) {
  const Module& mpi = load_module("mpi");
  const auto transport = mpi.connect();
  const auto files = mpi.checkpoint_files(transport.get());
  Saving saving(*transport, *files, folder);
  for (const FileCheck& check : file_checks) {
    try {
      transport->set_time_limit(20);
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
  // Where ranks collect their writes in Open MPI, one does it for each machine; here, for each
  // rank.
  ::setenv("OMPI_MCA_io_ompio_num_aggregators", "100", 0);
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
