// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/data.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/mlp/csv_records.hpp"

#include <gmock/gmock.h>
#include <zlib.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>

namespace diffbench::mlp {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class DataTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(directory_); }
  void TearDown() override { fs::remove_all(directory_); }

  fs::path write(const std::string& name, const std::string& bytes) {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
    return directory_ / name;
  }
  fs::path write_gz(const std::string& name, const std::string& bytes) {
    const fs::path path = directory_ / name;
    gzFile_s* const file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path;
  }

  template <typename Read>
  static std::string refusal(Read read) {
    try {
      (void)read();
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  fs::path directory_ =
      fs::temp_directory_path() / ("diffbench-mlp-data-" + std::to_string(::getpid()));
};

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(number >> shift & 255);
  }
  return bytes;
}

/// Three images of 2x2 pixels.
std::string images(std::uint32_t magic = 0x803, std::uint32_t count = 3) {
  return big_endian(magic) + big_endian(count) + big_endian(2) + big_endian(2) +
         std::string("\x00\xff\x33\x00\x01\x02\x03\x04\xff\xff\xff\xff", 12);
}
std::string labels(std::uint32_t magic = 0x801, std::uint32_t count = 3) {
  return big_endian(magic) + big_endian(count) + std::string("\x02\x00\x01", 3);
}

TEST_F(DataTest, TheDiscSetIsTheTutorials) {
  const Split split = disc_set(1000, 1);
  for (const DataSet* set : {&split.train, &split.test}) {
    EXPECT_EQ(set->rows(), 1000);
    EXPECT_EQ(set->features, 2);
    EXPECT_EQ(set->classes, 2);
    // A quarter of a disc of the area 1/2: 1 in 8.
    EXPECT_NEAR(std::accumulate(set->labels.begin(), set->labels.end(), 0), 125, 40);
  }
  double mean = 0;
  double squares = 0;
  for (const float value : split.train.values) {
    mean += static_cast<double>(value) / 2000;
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  EXPECT_NEAR(mean, 0, 1e-6);
  EXPECT_NEAR(squares / 1999, 1, 1e-5);
  EXPECT_NE(split.train.values, split.test.values);
  EXPECT_EQ(disc_set(1000, 1).train.values, split.train.values);
  EXPECT_NE(disc_set(1000, 2).train.values, split.train.values);
}

TEST_F(DataTest, IdxFilesPlainAndCompressed) {
  for (const bool compressed : {false, true}) {
    const DataSet set = compressed
                            ? read_idx(write_gz("i.gz", images()), write_gz("l.gz", labels()))
                            : read_idx(write("i", images()), write("l", labels()));
    EXPECT_EQ(set.rows(), 3);
    EXPECT_EQ(set.features, 4);
    EXPECT_EQ(set.classes, 3);
    EXPECT_THAT(set.labels, ElementsAre(2, 0, 1));
    EXPECT_EQ(set.values[0], 0.0F);
    EXPECT_EQ(set.values[1], 1.0F);
    EXPECT_EQ(set.values[2], 0.2F);
  }
}

TEST_F(DataTest, DamagedIdxFilesAreRefusedByName) {
  const fs::path good_images = write("images", images());
  const fs::path good_labels = write("labels", labels());
  struct Bad {
    std::string bytes;
    const char* words;
  };
  const std::string all = images();
  for (const Bad& bad :
       {Bad{"", "ends before"}, Bad{all.substr(0, 10), "ends before"},
        Bad{all.substr(0, all.size() - 1), "ends before"}, Bad{all + "x", "longer"},
        Bad{images(0x801), "magic"}, Bad{images(0x03080000), "03080000"},
        Bad{images(0x803, 0), "0 images"}, Bad{images(0x803, 0xffffffff), "labels for"}}) {
    const fs::path file = write("bad", bad.bytes);
    const std::string message = refusal([&] { return read_idx(file, good_labels); });
    EXPECT_THAT(message, HasSubstr(bad.words));
    EXPECT_THAT(message, testing::AnyOf(HasSubstr("bad: "), HasSubstr("labels: ")));
  }
  EXPECT_THAT(refusal([&] { return read_idx(good_images, write("bad", labels(0x803))); }),
              HasSubstr("not with the magic number of IDX labels"));
  EXPECT_THAT(refusal([&] { return read_idx(good_images, write("bad", labels(0x801, 2))); }),
              HasSubstr("2 labels for 3 images"));
  EXPECT_THAT(refusal([&] { return read_idx(directory_, good_labels); }),
              HasSubstr("cannot be opened"));
  EXPECT_THAT(refusal([&] { return read_idx(directory_ / "none", good_labels); }),
              HasSubstr("cannot be opened"));
  std::string packed;
  {
    std::ifstream file(write_gz("packed", images() + std::string(5000, 'x')), std::ios::binary);
    packed.assign(std::istreambuf_iterator<char>(file), {});
  }
  {
    std::ifstream file(write_gz("cut", images()), std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    for (const std::size_t lost : {1U, 4U, 8U}) { // of the checksum and the length at its end
      const fs::path cut = write("cut", whole.substr(0, whole.size() - lost));
      EXPECT_THAT(refusal([&] { return read_idx(cut, good_labels); }), HasSubstr("cut: is damaged"))
          << lost;
    }
  }
  packed[packed.size() / 2] = static_cast<char>(~packed[packed.size() / 2]);
  EXPECT_THAT(refusal([&] { return read_idx(write("bad", packed), good_labels); }),
              HasSubstr("bad: "));
}

// Where the last byte of a picture fills what was asked for, zlib does not say that more was to
// come.
TEST_F(DataTest, LargePicturesWithoutTheEndOfTheirFile) {
  for (const std::uint32_t count : {1024U, 1500U}) { // of 1 KiB
    std::string bytes = big_endian(0x803) + big_endian(count) + big_endian(32) + big_endian(32);
    std::mt19937 random(count);
    for (std::uint32_t i = 0; i < count * 1024; ++i) {
      bytes += static_cast<char>(random() & 255);
    }
    const fs::path labels_file =
        write("l", big_endian(0x801) + big_endian(count) + std::string(count, '\1'));
    const fs::path good = write_gz("good", bytes);
    EXPECT_EQ(read_idx(good, labels_file).rows(), count);
    EXPECT_EQ(read_idx(write("plain", bytes), labels_file).rows(), count);
    EXPECT_THAT(refusal([&] { return read_idx(write("plain", bytes + 'x'), labels_file); }),
                HasSubstr("longer than its header says"));
    std::ifstream file(good, std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(file)), {});
    for (std::size_t lost = 1; lost <= 12; ++lost) {
      const fs::path cut = write("cut", whole.substr(0, whole.size() - lost));
      EXPECT_THAT(refusal([&] { return read_idx(cut, labels_file); }), HasSubstr("cut: "))
          << count << ' ' << lost;
    }
  }
}

TEST_F(DataTest, ADirectoryOfIdxFiles) {
  write("train-images-idx3-ubyte", images());
  write("train-labels-idx1-ubyte", labels());
  write_gz("t10k-images-idx3-ubyte.gz", images());
  EXPECT_THAT(
      refusal([&] { return read_idx_directory(directory_, "fashion"); }),
      testing::AllOf(HasSubstr("t10k-labels-idx1-ubyte"), HasSubstr("dataset-fashion-mnist")));
  write("t10k-labels-idx1-ubyte", labels());
  const Split split = read_idx_directory(directory_, "fashion");
  EXPECT_EQ(split.train.name, "fashion");
  EXPECT_EQ(split.test.rows(), 3);
  for (const char* const part : {"train-images", "train-labels", "t10k-labels"}) {
    const std::string digit = std::string(part).ends_with("images") ? "3" : "1";
    fs::rename(directory_ / (std::string(part) + "-idx" + digit + "-ubyte"),
               directory_ / (std::string(part) + ".idx" + digit + "-ubyte"));
  }
  EXPECT_EQ(read_idx_directory(directory_, "fashion").train.rows(), 3);
}
TEST_F(DataTest, CsvRecordsAreReadAsSpreadsheetsWriteThem) {
  const auto fields = [](std::string text) {
    std::vector<std::vector<std::string>> rows;
    each_csv_record(std::move(text), true,
                    [&](CsvRecord& record) { rows.push_back(record.fields); });
    return rows;
  };
  using Rows = std::vector<std::vector<std::string>>;
  const Rows expected = {{"a", "b c"}, {"1", "x,\n\"y\""}};
  EXPECT_EQ(fields("a, b c \n1,\"x,\n\"\"y\"\"\"\n"), expected);
  EXPECT_EQ(fields("\xef\xbb\xbf"
                   "a;b c\r\n\r\n# no row\r\n1;\"x,\n\"\"y\"\"\"\r\n"),
            expected);
  EXPECT_EQ(fields("a\tb c\r1\t\"x,\n\"\"y\"\"\"\r"), expected);
  EXPECT_THAT(refusal([&] { (void)fields("a,\"b\n"); }), HasSubstr("line 1"));
  EXPECT_THAT(refusal([&] {
                (void)fields(
                    std::string("\xff\xfe"
                                "a\0,\0",
                                6));
              }),
              HasSubstr("UTF-16"));
}

} // namespace
} // namespace diffbench::mlp
