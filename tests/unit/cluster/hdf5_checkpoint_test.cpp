// SPDX-License-Identifier: Apache-2.0
// The module hdf5, loaded as the program loads it. Files are spoilt with HDF5 itself.
#include "diffbench/cluster/checkpoint_rotation.hpp"
#include "diffbench/cluster/module.hpp"

#include "checkpoint_case.hpp"
#include "checkpoint_seal.hpp"
#include "scratch.hpp"

#include <csignal>
#include <cstring>

#include <gmock/gmock.h>
#include <hdf5.h>

#include <sys/resource.h>

namespace diffbench::cluster {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Hdf5CheckpointTest : public ScratchTest {
 public:
  std::filesystem::path written(const CheckpointFacts& facts) {
    std::filesystem::remove(path);
    write_sample(*files, path, facts);
    return path;
  }
  std::filesystem::path written() { return written(sample_facts(Dtype::float32, 5, 3)); }

  std::string complaint() {
    return message_of<InvalidInput>([&] { static_cast<void>(content(path)); });
  }
  [[nodiscard]] CheckpointContent content(const std::filesystem::path& file) const {
    return files->read(ReadFile(file).descriptor());
  }

  // A good checkpoint with `change` made to it.
  template <typename Change>
  std::string complaint_after(Change&& change) {
    written();
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    change(file);
    H5Fclose(file);
    return complaint();
  }

  std::unique_ptr<CheckpointFiles> files = load_module("hdf5").checkpoint_files();
  std::filesystem::path path = directory() / "run.h5";
};

template <typename Value>
void set_attribute(hid_t file, const char* name, hid_t type, const Value& value) {
  H5Adelete(file, name);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(H5Awrite(attribute, type, &value), 0);
  H5Aclose(attribute);
  H5Sclose(scalar);
}

void set_text(hid_t file, const char* name, const char* text) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, std::strlen(text));
  H5Adelete(file, name);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(H5Awrite(attribute, type, text), 0);
  H5Aclose(attribute);
  H5Sclose(scalar);
  H5Tclose(type);
}

void set_dataset(hid_t file, hid_t type, std::vector<hsize_t> extent, bool is_chunked = false) {
  H5Ldelete(file, "u", H5P_DEFAULT);
  const auto rank = static_cast<int>(extent.size());
  const hid_t shape = H5Screate_simple(rank, extent.data(), nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
  if (is_chunked) {
    H5Pset_chunk(properties, rank, extent.data());
  }
  H5Dclose(H5Dcreate2(file, "u", type, shape, H5P_DEFAULT, properties, H5P_DEFAULT));
  H5Pclose(properties);
  H5Sclose(shape);
}

TEST_F(Hdf5CheckpointTest, ReadsBackWhatWasWritten) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    for (const auto& [nx, ny] : {std::pair{3, 3}, {5, 3}, {3, 7}, {257, 131}}) {
      const CheckpointFacts facts = sample_facts(dtype, nx, ny);
      written(facts);
      const CheckpointContent read = content(path);
      EXPECT_EQ(read.facts, facts);
      const std::string file = content_of(path);
      const std::vector<std::byte> field = sample_rows(facts.problem);
      ASSERT_GE(file.size(), static_cast<std::size_t>(read.cells_at) + field.size());
      EXPECT_EQ(std::memcmp(file.data() + read.cells_at, field.data(), field.size()), 0);
    }
  }
}

// The cells lie where HDF5 looks for them.
TEST_F(Hdf5CheckpointTest, Hdf5ReadsTheCells) {
  const CheckpointFacts facts = sample_facts(Dtype::float64, 257, 131);
  written(facts);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, "u", H5P_DEFAULT);
  std::vector<double> cells(257 * 131);
  EXPECT_GE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells.data()), 0);
  const std::vector<std::byte> field = sample_rows(facts.problem);
  EXPECT_EQ(std::memcmp(cells.data(), field.data(), field.size()), 0);
  H5Dclose(dataset);
  H5Fclose(file);
}

// As where another run has replaced it.
TEST_F(Hdf5CheckpointTest, ReadsAFileThatHasNoNameAnyMore) {
  const CheckpointFacts facts = sample_facts(Dtype::float32, 5, 3);
  written(facts);
  const ReadFile file(path);
  std::filesystem::remove(path);
  EXPECT_EQ(files->read(file.descriptor()).facts, facts);
}

TEST_F(Hdf5CheckpointTest, AcceptsAnUnstableProblemAndEmptyTexts) {
  CheckpointFacts facts = sample_facts(Dtype::float32, 5, 3);
  facts.problem.dt = 1e3;
  facts.initial = facts.digest = facts.version = "";
  written(facts);
  EXPECT_EQ(content(path).facts, facts);
}

TEST_F(Hdf5CheckpointTest, RefusesAFileCutAtAnyLength) {
  written();
  const std::string whole = content_of(path);
  ASSERT_GT(whole.size(), 1000U);
  for (std::size_t size = 1; size < whole.size(); size += size < 200 ? 1 : 61) {
    put("run.h5", whole.substr(0, size));
    EXPECT_THAT(complaint(), HasSubstr("opening it as HDF5 failed (HDF5: ")) << size;
  }
  put("run.h5", whole.substr(0, whole.size() - 1));
  EXPECT_THAT(complaint(), HasSubstr("truncated file"));
  put("run.h5", "");
  EXPECT_THAT(complaint(), HasSubstr("it is empty"));
}

TEST_F(Hdf5CheckpointTest, RefusesWhatIsNoCheckpoint) {
  put("run.h5", "step,time\n1,2\n");
  testing::internal::CaptureStderr(); // HDF5 prints its errors unless it is told not to
  EXPECT_THAT(complaint(), HasSubstr("opening it as HDF5 failed (HDF5: file signature not found)"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  path = directory() / "foreign.h5";
  H5Fclose(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_THAT(complaint(), HasSubstr("it has no attribute 'format'"));
}

TEST_F(Hdf5CheckpointTest, RefusesAMissingAttribute) {
  for (const char* name : {"format", "step", "nx", "ny", "spacing", "diffusivity", "dt", "boundary",
                           "boundary_value", "dtype", "initial", "digest", "version"}) {
    EXPECT_THAT(complaint_after([&](hid_t file) { H5Adelete(file, name); }),
                HasSubstr(std::string("it has no attribute '") + name + "'"));
  }
}

TEST_F(Hdf5CheckpointTest, RefusesValuesThatNoRunHas) {
  const auto with_text = [&](const char* name, const char* text) {
    return complaint_after([&](hid_t file) { set_text(file, name, text); });
  };
  const auto with_number = [&](const char* name, double value) {
    return complaint_after(
        [&](hid_t file) { set_attribute(file, name, H5T_NATIVE_DOUBLE, value); });
  };
  const auto with_integer = [&](const char* name, std::int64_t value) {
    return complaint_after([&](hid_t file) { set_attribute(file, name, H5T_NATIVE_INT64, value); });
  };
  EXPECT_THAT(with_text("format", "diffbench checkpoint 9"), HasSubstr("reads 'diffbench checkp"));
  EXPECT_THAT(with_text("boundary", "open\n"), HasSubstr("unknown boundary condition 'open?'"));
  EXPECT_THAT(with_text("dtype", "float16"), HasSubstr("unknown dtype 'float16'"));
  EXPECT_THAT(with_number("dt", std::nan("")), HasSubstr("dt = nan"));
  EXPECT_THAT(with_number("spacing", 0), HasSubstr("spacing = 0"));
  EXPECT_THAT(with_number("boundary_value", HUGE_VAL), HasSubstr("boundary value = inf"));
  EXPECT_THAT(with_integer("nx", 2), HasSubstr("nx = 2 cells"));
  EXPECT_THAT(with_integer("ny", -3), HasSubstr("ny = -3 cells"));
  EXPECT_THAT(with_integer("step", -1), HasSubstr("step = -1"));
  // Of another type.
  EXPECT_THAT(with_number("step", 1), HasSubstr("'step' is not an integer"));
  EXPECT_THAT(with_integer("dt", 1), HasSubstr("'dt' is not a floating-point number"));
  EXPECT_THAT(with_integer("initial", 1), HasSubstr("'initial' is not a text"));
  const auto of_variable_length = [](hid_t file) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const char* const text = "x";
    set_attribute(file, "digest", type, text);
    H5Tclose(type);
  };
  EXPECT_THAT(complaint_after(of_variable_length),
              HasSubstr("'digest' is not a text of fixed length"));
}

TEST_F(Hdf5CheckpointTest, RefusesAnotherDataset) {
  const auto with = [&](hid_t type, const std::vector<hsize_t>& extent, bool is_chunked = false) {
    return complaint_after([&](hid_t file) { set_dataset(file, type, extent, is_chunked); });
  };
  EXPECT_THAT(complaint_after([](hid_t file) { H5Ldelete(file, "u", H5P_DEFAULT); }),
              HasSubstr("it has no dataset 'u'"));
  EXPECT_THAT(with(H5T_IEEE_F64LE, {3, 5}), HasSubstr("u is not of dtype float32"));
  EXPECT_THAT(with(H5T_IEEE_F32BE, {3, 5}), HasSubstr("u is not of dtype float32"));
  EXPECT_THAT(with(H5T_STD_I32LE, {3, 5}), HasSubstr("u is not of dtype float32"));
  EXPECT_THAT(with(H5T_IEEE_F32LE, {5, 3}), HasSubstr("u is not of shape (3, 5)"));
  EXPECT_THAT(with(H5T_IEEE_F32LE, {15}), HasSubstr("u is not of shape (3, 5)"));
  EXPECT_THAT(with(H5T_IEEE_F32LE, {3, 5, 1}), HasSubstr("u is not of shape (3, 5)"));
  EXPECT_THAT(with(H5T_IEEE_F32LE, {3, 5}, true), HasSubstr("u is not contiguous"));
}

TEST_F(Hdf5CheckpointTest, SaysWhyItCannotWrite) {
  const auto complaint_of = [&](const std::filesystem::path& file) {
    return message_of<Error>(
        [&] { (void)files->create(file, sample_facts(Dtype::float32, 5, 3)); });
  };
  EXPECT_THAT(complaint_of(directory() / "nowhere/run.h5"), HasSubstr("No such file or directory"));
  written();
  EXPECT_THAT(complaint_of(path), HasSubstr("File exists"));
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

TEST_F(Hdf5CheckpointTest, AFullDiskLeavesTheOlderOnesAndNothingElse) {
  const CheckpointFacts facts = sample_facts(Dtype::float32, 64, 64);
  CheckpointFacts next = facts;
  next.step += 1;
  const std::vector<std::byte> rows = sample_rows(facts.problem);
  save_checkpoint(*files, nullptr, path, facts, 0, rows);
  save_checkpoint(*files, nullptr, path, facts, 0, rows);
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const std::ptrdiff_t open_before = open_files();
  // From nothing at all to the last byte: each of its parts is once the one that has no room.
  const std::uintmax_t whole = std::filesystem::file_size(path);
  for (std::uintmax_t bytes = 0; bytes < whole; bytes += 997) {
    const FileSizeLimit limit(bytes);
    EXPECT_THAT(message_of<Error>([&] { save_checkpoint(*files, nullptr, path, next, 0, rows); }),
                AllOf(HasSubstr("File too large"), Not(HasSubstr("HDF5")))) // see skeleton.hpp
        << bytes;
    EXPECT_EQ(file_count(), 2) << bytes;
  }
  EXPECT_EQ(open_files(), open_before); // or the space would stay taken
  EXPECT_EQ(content(path).facts, facts);
  EXPECT_EQ(content(previous_checkpoint(path)).facts, facts);
  EXPECT_NO_THROW(save_checkpoint(*files, nullptr, path, next, 0, rows));
  EXPECT_EQ(content(path).facts, next);
}

TEST_F(Hdf5CheckpointTest, IsLoadedOnce) { EXPECT_EQ(&load_module("hdf5"), &load_module("hdf5")); }

} // namespace
} // namespace diffbench::cluster
