// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/data.hpp"
#include "diffbench/errors.hpp"

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

TEST_F(DataTest, Csv) {
  const Split split = read_csv(write("points.csv",
                                     "x, y, class\r\n1,10,0\r\n3,10,1\n\n"
                                     "1, 10,0\n3,10,2\n5,10,1\n"));
  EXPECT_EQ(split.train.rows(), 3);
  EXPECT_EQ(split.test.rows(), 2); // one of each class that has two
  EXPECT_EQ(split.train.features, 2);
  EXPECT_EQ(split.train.classes, 3);
  EXPECT_THAT(split.train.labels, testing::Contains(2)); // the only one of its class is learnt from
  // Column by column by the training rows; one that does not vary is 0.
  double sum = 0;
  for (std::size_t i = 0; i < split.train.values.size(); i += 2) {
    sum += static_cast<double>(split.train.values[i]);
    EXPECT_EQ(split.train.values[i + 1], 0);
  }
  EXPECT_NEAR(sum, 0, 1e-6);
  EXPECT_EQ(split.test.values[1], 0);
}

// Each text has what the plain one has: two features, and a class of two that is drawn by chance.
TEST_F(DataTest, CsvAsPeopleHaveIt) {
  constexpr const char* plain = "0.5,1,0\n1.5,2,1\n2.5,4,1\n3.5,8,0\n4.5,16,0\n5.5,32,1\n";
  const Split expected = read_csv(write("plain.csv", plain));
  struct Written {
    const char* text;
    const char* label = "";
    std::vector<std::string> classes = {};
  };
  const std::vector<std::string> signs{"-1", "1"};
  const std::vector<std::string> names{"a", "b;"};
  for (const auto& [text, label, classes] : {
           Written{"\xEF\xBB\xBF"
                   "0.5,1,0\n1.5,2,1\n2.5,4,1\n3.5,8,0\n4.5,16,0\n5.5,32,1"},
           {"\xEF\xBB\xBFx,y,z\r\n0.5,1,0\r\n1.5,2,1\r\n2.5,4,1\r\n3.5,8,0\r\n4.5,16,0\r\n5.5,32,"
            "1"},
           {"x,y,z\r0.5,1,0\r1.5,2,1\r\r2.5,4,1\r3.5,8,0\r4.5,16,0\r5.5,32,1\r"},
           {"0.5;1;0\n1.5;2;1\n2.5;4;1\n3.5;8;0\n4.5;16;0\n5.5;32;1\n"},
           {"0,5;1,0;0\n1,5;2;1\n2,5;4;1\n3,5;8;0\n4,5;16;0\n5,5;32;1\n"},
           {"0,5;1;\"a\"\n1,5;2;\"b;\"\n2,5;4;\"b;\"\n3,5;8;a\n4,5;16;a\n5,5;32;\"b;\"\n", "",
            names},
           {"0.5\t1\t0\n1.5\t2\t1\n2.5\t4\t1\n3.5\t8\t0\n4.5\t16\t0\n5.5\t32\t1\n"},
           {"# made, by \"hand\n0.5,1,0\n1.5,2,1\n#\n2.5,4,1\n3.5,8,0\n4.5,16,0\n5.5,32,1\n"},
           {"x,y,z,\n0.5,1,0,\n1.5,2,1,\n2.5,4,1,\n3.5,8,0,\n4.5,16,0,\n5.5,32,1,\n,,,\n"},
           {"x,y,z\n0.5,1,0,,\n1.5,2,1,,\n2.5,4,1,,\n3.5,8,0,,\n4.5,16,0,,\n5.5,32,1,,\n"},
           {"\"0.5\",\"1\",\"0\"\n\"1.5\",\"2\",\"1\"\n\"2.5\",\"4\",\"1\"\n 3.5 , 8 , 0 \n\" "
            "4.5\",16,0\n5.5,32,1\n"},
           {"0.5,1,-1\n1.5,2,1\n2.5,4,+1\n3.5,8,-1\n4.5,16,-1.0\n5.5,32,1\n", "", signs},
           {"0.5,1,a\n1.5,2,b;\n2.5,4,b;\n3.5,8,a\n4.5,16,\" a\"\n5.5,32,b;\n", "", names},
           {"+0.5,1,0.0\n+1.5,+2,1.0\n2.5,4e0,1\n35e-1,8,0\n4.5,16.,0\n5.5,32,1\n"},
           {"0,0.5,1\n1,1.5,2\n1,2.5,4\n0,3.5,8\n0,4.5,16\n1,5.5,32\n", "first"},
           {"Class,x,y\n0,0.5,1\n1,1.5,2\n1,2.5,4\n0,3.5,8\n0,4.5,16\n1,5.5,32\n", "Class"},
           {"x,Label,y\n0.5,0,1\n1.5,1,2\n2.5,1,4\n3.5,0,8\n4.5,0,16\n5.5,1,32\n", "Label"},
           {"target,x,TARGET\n0.5,1,0\n1.5,2,1\n2.5,4,1\n3.5,8,0\n4.5,16,0\n5.5,32,1\n"},
           {"label,x,z\n0.5,1,0\n1.5,2,1\n2.5,4,1\n3.5,8,0\n4.5,16,0\n5.5,32,1\n", "last"},
           {"0,1,label\n0.5,1,0\n1.5,2,1\n2.5,4,1\n3.5,8,0\n4.5,16,0\n5.5,32,1\n"},
           {",x,y,z\n0,0.5,1,0\n1,1.5,2,1\n2,2.5,4,1\n3,3.5,8,0\n4,4.5,16,0\n5,5.5,32,1\n"},
       }) {
    const Split split = read_csv(write("written.csv", text), label);
    EXPECT_EQ(split.train.values, expected.train.values) << text;
    EXPECT_EQ(split.test.values, expected.test.values) << text;
    EXPECT_EQ(split.test.labels, expected.test.labels) << text;
    EXPECT_EQ(split.train.labels, expected.train.labels) << text;
    EXPECT_EQ(split.train.classes, 2) << text;
    EXPECT_EQ(split.test.class_names, classes) << text;
  }
}

// Numbers too small for a float are 0, as the numbers beside them here.
TEST_F(DataTest, TinyNumbersAreZero) {
  const Split split =
      read_csv(write("tiny.csv", "0,0\n3.2e-60,1\n-1e-999,0\n+0e5,1\n0.000e-400,0\n1e-50,1\n"));
  EXPECT_THAT(split.train.values, testing::Each(0.0F));
}

// A number that no training row comes near: one of five rows is for the test, whichever it is.
TEST_F(DataTest, ATestRowThatOverflowsIsRefused) {
  int refused = 0;
  for (int large = 0; large < 5; ++large) {
    std::string rows;
    for (int row = 0; row < 5; ++row) {
      rows += (row == large   ? "3e38,"
               : row % 2 == 0 ? "1e-45,"
                              : "3e-45,") +
              std::to_string(row % 2) + "\n";
    }
    const fs::path file = write("far.csv", rows);
    try {
      static_cast<void>(read_csv(file));
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr("overflows"));
      ++refused;
    }
  }
  EXPECT_EQ(refused, 2); // one of each class
}

// Sorted, in turn, or every fifth row of one class: each class has a fifth of its rows in the test.
TEST_F(DataTest, EachClassHasItsShareOfTheTest) {
  for (const int run : {1, 2, 5, 20}) { // equal labels in a row
    std::string rows;
    for (int row = 0; row < 60; ++row) {
      rows += std::to_string(row) + "," + std::to_string(row / run % 3) + "\n";
    }
    const Split split = read_csv(write("points.csv", rows));
    for (int label = 0; label < 3; ++label) {
      EXPECT_EQ(std::ranges::count(split.test.labels, label), 4) << run;
      EXPECT_EQ(std::ranges::count(split.train.labels, label), 16) << run;
    }
  }
  std::string few; // label n has n rows: one is learnt from, more are tested, too
  for (int label = 1; label < 9; ++label) {
    for (int row = 0; row < label; ++row) {
      few += std::to_string(row) + "," + std::to_string(label) + "\n";
    }
  }
  const Split split = read_csv(write("few.csv", few));
  for (int label = 1; label < 9; ++label) {
    EXPECT_EQ(std::ranges::count(split.test.labels, label), label == 1 ? 0 : label < 8 ? 1 : 2);
  }
  EXPECT_THAT(refusal([&] { return read_csv(write("ids.csv", "1,0\n1,1\n1,2\n1,3\n1,4\n1,5\n")); }),
              HasSubstr("and several rows of one"));
}

// The mean of such a column need not be its value, to the last bit.
TEST_F(DataTest, AColumnThatDoesNotVaryIsZero) {
  std::string rows;
  for (int row = 1; row < 40; ++row) {
    rows += "0.1," + std::to_string(row % 2) + "\n";
    if (row >= 5) {
      const Split split = read_csv(write("points.csv", rows));
      EXPECT_THAT(split.train.values, testing::Each(0.0F));
      EXPECT_THAT(split.test.values, testing::Each(0.0F));
    }
  }
}

TEST_F(DataTest, BadCsvIsRefusedWithTheLine) {
  struct Bad {
    const char* text;
    const char* words;
  };
  for (const Bad& bad : {Bad{"", "0 rows"},
                         Bad{"x,y,class\n", "0 rows"},
                         Bad{"1,2,0\n1,,0\n", "line 2: a value is"},
                         Bad{"1,2,0\n1,two,0\n", "line 2: 'two' is not a number"},
                         Bad{"1,2,0\n1,0\n", "line 2: 2 values"},
                         Bad{"1,2,0\n1,2,0,4\n", "line 2: 4 values"},
                         Bad{"1,2,0\n1,2,\n", "line 2: a value is missing"},
                         Bad{"1,2,0.5\n", "line 1: label 0.5"},
                         Bad{"1,2,10000\n", "label 10000"},
                         Bad{"1,2,-10000\n", "label -10000"},
                         Bad{"1,2,nan\n", "label nan"},
                         Bad{"1,2,1e999\n", "label 1e999"},
                         Bad{"1,2,0\n1,2,NA\n", "line 2: label NA"},
                         Bad{"1,2,z\n1,2,0\n", "line 2: label 0"},
                         Bad{"1,nan,0\n", "is not a number"},
                         Bad{"7\n", "one value"},
                         Bad{"7,\n", "one value"},
                         Bad{"1 2 0\n1 2 1\n", "one value"},
                         Bad{"1,+-2,0\n", "'+-2' is not a number"},
                         Bad{"1,1e999,0\n", "'1e999' is too large"},
                         Bad{"-3.5e38,1,0\n", "'-3.5e38' is too large"},
                         Bad{"1,\x1b[31m,0\n", "'?[31m' is not a number"},
                         Bad{"1\t0,5\t1\n", "is not a number"},
                         Bad{"1;1.234,5;1\n1;2;1\n", "'1.234,5' is not a number"},
                         Bad{"1,\"2,0\n1,2,1\n", "line 1: a quote is never closed"},
                         Bad{"1,2,0\n1,\"2\n\"3\",1\n", "line 2: a quote stands within"},
                         Bad{"1,2\",0\n", "line 1: a quote stands within"},
                         Bad{"PK\x03\x04", "line 1: one value"},
                         Bad{"label,1x1,1x2\n5,0,0\n", "a column is 'label'"},
                         Bad{"x, \"TARGET\" ,y\n5,0,0\n", "--label TARGET or --label last"},
                         Bad{"1,0\n1,0\n1,0\n1,0\n1,0\n", "1 classes"},
                         Bad{"1,0\n1,1\n", "2 rows"}}) {
    EXPECT_THAT(refusal([&] { return read_csv(write("bad.csv", bad.text)); }),
                testing::AllOf(HasSubstr("bad.csv"), HasSubstr(bad.words)));
  }
  EXPECT_THAT(refusal([&] { return read_csv(write("bad.csv", std::string("1\0,2", 4))); }),
              HasSubstr("UTF-16"));
  EXPECT_THAT(refusal([&] { return read_csv(write("bad.csv", "x,klass\n1,2\n"), "class"); }),
              HasSubstr("no column is named 'class', did you mean 'klass'?"));
  EXPECT_THAT(refusal([&] { return read_csv(write("bad.csv", "1,2\n"), "class"); }),
              HasSubstr("no column is named"));
  EXPECT_THAT(refusal([&] { return read_csv(directory_); }), HasSubstr("cannot be opened"));
}

TEST_F(DataTest, PipesAreRefused) {
  const fs::path pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { return read_csv(pipe); }), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal([&] { return read_idx(pipe, pipe); }), HasSubstr("cannot be opened"));
}

// A disk whose sectors cannot be read is not the end of the file. Reading this one fails always:
// nothing lies at address 0.
TEST_F(DataTest, AReadErrorIsNotTheEndOfACsvFile) {
  try { // the machine's fault, not the file's
    (void)read_csv("/proc/self/mem");
    FAIL() << "read";
  } catch (const InvalidInput& error) {
    FAIL() << error.what();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("reading failed"));
  }
}

} // namespace
} // namespace diffbench::mlp
