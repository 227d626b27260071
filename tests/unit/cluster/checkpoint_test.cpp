// SPDX-License-Identifier: Apache-2.0
// What is in the file of a checkpoint.
#include "diffbench/cluster/checkpoint_rotation.hpp"

#include "checkpoint_case.hpp"
#include "checkpoint_head.hpp"
#include "scratch.hpp"

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>

#include <sys/resource.h>

namespace diffbench::cluster {
namespace {

using testing::HasSubstr;

class CheckpointTest : public ScratchTest {
 public:
  void write(const CheckpointFacts& facts) {
    save_checkpoint(nullptr, path, facts, 0, sample_rows(facts.problem));
  }
  [[nodiscard]] static CheckpointContent content(const std::filesystem::path& file) {
    return read_checkpoint(open_sealed(nullptr, file));
  }
  /// Of a good one in which `from` is `to`, sealed again as somebody does it who knows how.
  std::string complaint_after(const std::string& from, const std::string& to) {
    write(sample_facts(Dtype::float32, 5, 3));
    std::string text = content_of(path);
    text.resize(text.size() - seal_bytes);
    text.replace(text.find(from), from.size(), to);
    put("run.state", text);
    std::ofstream(path, std::ios::app | std::ios::binary) << seal_of(nullptr, path);
    return message_of<InvalidInput>([&] { static_cast<void>(content(path)); });
  }

  std::filesystem::path path = directory() / "run.state";
};

TEST_F(CheckpointTest, ReadsBackWhatWasWritten) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    for (const auto& [nx, ny] : {std::pair{3, 3}, {5, 3}, {3, 7}, {257, 131}}) {
      const CheckpointFacts facts = sample_facts(dtype, nx, ny);
      write(facts);
      const CheckpointContent read = content(path);
      EXPECT_EQ(read.facts, facts);
      const std::string file = content_of(path);
      const std::vector<std::byte> field = sample_rows(facts.problem);
      ASSERT_GE(file.size(), static_cast<std::size_t>(read.cells_at) + field.size());
      EXPECT_EQ(std::memcmp(file.data() + read.cells_at, field.data(), field.size()), 0);
    }
  }
}

TEST_F(CheckpointTest, AcceptsEveryNumberAndText) {
  CheckpointFacts facts = sample_facts(Dtype::float32, 5, 3);
  facts.problem.dt = 1e3;
  facts.problem.diffusivity = 1.0 / 3;
  facts.problem.spacing = std::nextafter(1.0, 2.0);
  facts.problem.boundary_value = 5e-324;
  for (const char* text : {"", "a b", R"(with "quotes" and \ and # and }, in it)", "a long one"}) {
    facts.initial = facts.version = text;
    write(facts);
    EXPECT_EQ(content(path).facts, facts);
  }
}

TEST_F(CheckpointTest, RefusesWhatNoRunHasWritten) {
  EXPECT_THAT(complaint_after("checkpoint 4", "checkpoint 9"), HasSubstr("another version"));
  EXPECT_THAT(complaint_after("'shape': (3, 5)", "'shape': (5, 3)"), HasSubstr("of its field"));
  EXPECT_THAT(complaint_after("nx 5", "nx 4"), HasSubstr("of its field"));
  EXPECT_THAT(complaint_after("nx 5", "nx 2"), HasSubstr("nx = 2 cells"));
  EXPECT_THAT(complaint_after("nx 5", "nx x"), HasSubstr("boundary condition"));
  EXPECT_THAT(complaint_after("step 1", "step -1"), HasSubstr("of its field"));
  EXPECT_THAT(complaint_after("spacing 0.5", "spacing 0.0"), HasSubstr("spacing = 0"));
  EXPECT_THAT(complaint_after("dirichlet", "open"), HasSubstr("boundary condition 'open'"));
  EXPECT_THAT(complaint_after("dtype float32", "dtype float16"), HasSubstr("dtype 'float16'"));
  EXPECT_THAT(complaint_after("dtype float32", "dtype float64"), HasSubstr("of its field"));
  EXPECT_THAT(complaint_after("spacing 0.5", "spacing 0.50"), HasSubstr("of its field"));
  EXPECT_THAT(complaint_after("\n", "\n\n"), HasSubstr("of its field")); // one byte too many
  EXPECT_THAT(complaint_after("\x93NUMPY", "\x92NUMPY"), HasSubstr("of its field"));
}

// A disk that is full after `bytes`, for this process.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(CheckpointTest, AFullDiskLeavesTheOlderOnesAndNothingElse) {
  const CheckpointFacts facts = sample_facts(Dtype::float32, 64, 64);
  CheckpointFacts next = facts;
  next.step += 1;
  const std::vector<std::byte> rows = sample_rows(facts.problem);
  save_checkpoint(nullptr, path, facts, 0, rows);
  save_checkpoint(nullptr, path, facts, 0, rows);
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const std::ptrdiff_t open_before = open_files();
  // From nothing at all to the last byte: each of its parts is once the one that has no room.
  const std::uintmax_t whole = std::filesystem::file_size(path);
  for (std::uintmax_t bytes = 0; bytes < whole; bytes += 997) {
    const FileSizeLimit limit(bytes);
    EXPECT_THAT(message_of<Error>([&] { save_checkpoint(nullptr, path, next, 0, rows); }),
                HasSubstr("File too large"))
        << bytes;
    EXPECT_EQ(file_count(), 2) << bytes;
  }
  EXPECT_EQ(open_files(), open_before); // or the space would stay taken
  EXPECT_EQ(content(path).facts, facts);
  EXPECT_EQ(content(previous_checkpoint(path)).facts, facts);
  EXPECT_NO_THROW(save_checkpoint(nullptr, path, next, 0, rows));
  EXPECT_EQ(content(path).facts, next);
}

} // namespace
} // namespace diffbench::cluster
