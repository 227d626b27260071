// SPDX-License-Identifier: Apache-2.0
// Files are composed byte by byte here, so that the reader is not tested against its own writer
// only; tests/golden checks both against NumPy.
#include "diffbench/npy.hpp"

#include "scratch.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace diffbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Magic, version, a little-endian header length of 2 or 4 bytes that may lie, header, data.
std::string npy(std::string_view header, std::string_view data, char major = 1,
                std::int64_t claimed_length = -1) {
  auto length = static_cast<std::uint64_t>(
      claimed_length < 0 ? static_cast<std::int64_t>(header.size()) : claimed_length);
  std::string bytes = "\x93NUMPY";
  bytes += {major, '\0'};
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i, length >>= 8) {
    bytes += static_cast<char>(length & 0xff);
  }
  return bytes.append(header).append(data);
}

std::string dict(std::string_view descr, std::string_view order, std::string_view shape) {
  std::string text = "{'descr': ";
  return text.append(descr)
      .append(", 'fortran_order': ")
      .append(order)
      .append(", 'shape': ")
      .append(shape)
      .append(", }\n");
}

const std::string good = dict("'<f4'", "False", "(2, 3)");

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
const std::vector<float> six = {1, -2, 0.5F, 4, 5, 6};

NpyHeader header_of(const std::string& bytes) {
  std::istringstream stream(bytes);
  return read_npy_header(stream, "in.npy");
}

std::string header_complaint(const std::string& bytes) {
  return message_of<InvalidInput>([&] { static_cast<void>(header_of(bytes)); });
}

std::string header_complaint_on(std::string_view header) {
  return header_complaint(npy(header, ""));
}

TEST(NpyHeaderTest, ReadsAllVersionsAndStopsAtTheData) {
  for (const char major : {'\1', '\2', '\3'}) {
    std::istringstream stream(npy(good, "data", major));
    const NpyHeader header = read_npy_header(stream, "in.npy");
    EXPECT_EQ(header.nx, 3);
    EXPECT_EQ(header.ny, 2);
    EXPECT_EQ(header.dtype, Dtype::float32);
    std::string rest;
    stream >> rest;
    EXPECT_EQ(rest, "data");
  }
}

TEST(NpyHeaderTest, ReadsAnySpellingThatNumpyReads) {
  for (const char* text : {
           "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f8'}",
           "{\"descr\":\"<f8\",\"fortran_order\":False,\"shape\":(2,3,),}      \n",
           "{ 'descr' :\t'<f8' ,\n 'fortran_order':False, 'shape' : ( 2 , 3 ) , } ",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }",
       }) {
    const NpyHeader header = header_of(npy(text, ""));
    EXPECT_EQ(header.nx, 3) << text;
    EXPECT_EQ(header.ny, 2) << text;
    EXPECT_EQ(header.dtype, Dtype::float64) << text;
  }
}

TEST(NpyHeaderTest, WhatIsNoNpyFile) {
  EXPECT_THAT(header_complaint(""),
              AllOf(StartsWith("cannot read 'in.npy'"), HasSubstr("empty"), HasSubstr("np.save")));
  EXPECT_THAT(header_complaint("\x93NUM"), HasSubstr("magic"));
  EXPECT_THAT(header_complaint("PK\3\4 and so on: an .npz"), HasSubstr("magic"));
  EXPECT_THAT(header_complaint(npy(good, "", 4)), HasSubstr("version is 4.0"));
  EXPECT_THAT(header_complaint(npy(good, "", 0)), HasSubstr("version is 0.0"));
}

TEST(NpyHeaderTest, ATruncatedHeader) {
  const std::string whole = npy(good, "");
  for (std::size_t size = 6; size < whole.size(); ++size) {
    EXPECT_THAT(header_complaint(whole.substr(0, size)), HasSubstr("ends inside")) << size;
  }
}

TEST(NpyHeaderTest, AHugeHeaderIsRefusedBeforeItIsRead) {
  EXPECT_THAT(header_complaint(npy(good, "", 2, 2'000'000'000)),
              AllOf(HasSubstr("2000000000 bytes"), HasSubstr("1 MiB")));
  EXPECT_THAT(header_complaint(npy(good, "", 3, 0xffff'ffff)), HasSubstr("1 MiB"));
  EXPECT_THAT(header_complaint(npy(good, "", 2, (1 << 20) + 1)), HasSubstr("1 MiB"));
  EXPECT_EQ(header_of(npy(good + std::string((1 << 20) - good.size(), ' '), "", 2)).nx, 3);
}

TEST(NpyHeaderTest, OtherDtypesAreNamed) {
  for (const char* descr : {"'<i4'", "'>f4'", "'>f8'", "'<f2'", "'<c8'", "'|b1'", "'|O'", "''"}) {
    const std::string name(descr + 1, std::char_traits<char>::length(descr) - 2);
    EXPECT_THAT(header_complaint_on(dict(descr, "False", "(2, 3)")),
                AllOf(HasSubstr("dtype is '" + name + "'"), HasSubstr("a.astype('<f4')")));
  }
  EXPECT_THAT(header_complaint_on(dict("[('x', '<f4')]", "False", "(2, 3)")),
              HasSubstr("structured"));
  EXPECT_THAT(header_complaint_on(dict("('<f4', (3,))", "False", "(2, 3)")),
              HasSubstr("structured"));
}

TEST(NpyHeaderTest, TextFromTheFileIsMadeFitToPrint) {
  const std::string escape = "\x1b[31m" + std::string(5000, 'x');
  const std::string message = header_complaint_on(dict("'" + escape + "'", "False", "(2, 3)"));
  EXPECT_EQ(message.find('\x1b'), message.npos);
  EXPECT_LT(message.size(), 300U);
}

TEST(NpyHeaderTest, FortranOrderIsKnown) {
  EXPECT_TRUE(header_of(npy(dict("'<f4'", "True", "(2, 3)"), "")).columns_first);
  EXPECT_FALSE(header_of(npy(good, "")).columns_first);
}

TEST(NpyHeaderTest, OtherRanksAreNamed) {
  EXPECT_THAT(header_complaint_on(dict("'<f4'", "False", "()")), HasSubstr("0-D"));
  EXPECT_THAT(header_complaint_on(dict("'<f4'", "False", "(6,)")), HasSubstr("1-D"));
  EXPECT_THAT(header_complaint_on(dict("'<f4'", "False", "(1, 2, 3)")), HasSubstr("3-D"));
}

TEST(NpyHeaderTest, ExtentsThatNoFieldHas) {
  EXPECT_THAT(header_complaint_on(dict("'<f4'", "False", "(0, 3)")), HasSubstr("(0, 3)"));
  EXPECT_THAT(header_complaint_on(dict("'<f4'", "False", "(2, -3)")), HasSubstr("(2, -3)"));
  EXPECT_THAT(header_complaint_on(dict("'<f4'", "False", "(2, 1000000001)")),
              HasSubstr("not within"));
  // Their product is 0 modulo 2^64.
  EXPECT_THAT(header_complaint_on(dict("'<f4'", "False", "(4294967296, 4294967296)")),
              HasSubstr("not within"));
  EXPECT_THAT(header_complaint_on(dict("'<f4'", "False", "(2, 18446744073709551619)")),
              HasSubstr("beyond 64 bits"));
}

TEST(NpyHeaderTest, MalformedHeaders) {
  for (const char* text : {
           "",
           " ",
           "{",
           "}",
           "{}",
           "{'descr'}",
           "{'descr': '<f4'}",
           "[1, 2]",
           "{'descr': <f4, 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<f4, 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3.0)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, )3}",
           "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} 0",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': (3, 2)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': '1'}",
           "{, 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
       }) {
    EXPECT_THAT(header_complaint_on(text), HasSubstr("header")) << text;
  }
}

class NpyFile : public ScratchTest {
 public:
  template <typename T = float>
  std::string complaint(const std::filesystem::path& path) const {
    return message_of<InvalidInput>([&] { static_cast<void>(read_npy<T>(path)); });
  }
};

TEST_F(NpyFile, ReadsRowMajorData) {
  const Field<float> field = read_npy<float>(put("in.npy", npy(good, bytes_of(six))));
  EXPECT_EQ(field.nx(), 3);
  EXPECT_EQ(field.ny(), 2);
  EXPECT_TRUE(std::ranges::equal(field.cells(), six));
  EXPECT_EQ(field.row(1)[0], 4);
}

TEST_F(NpyFile, DataOfAnotherLengthThanTheHeaderSays) {
  const std::string whole = npy(good, bytes_of(six));
  EXPECT_THAT(complaint(put("a.npy", whole.substr(0, whole.size() - 1))),
              AllOf(HasSubstr("needs 24 bytes"), HasSubstr("holds 23")));
  EXPECT_THAT(complaint(put("b.npy", whole + "x")), HasSubstr("holds 25"));
  EXPECT_THAT(complaint(put("c.npy", npy(good, ""))), HasSubstr("holds 0"));
}

TEST_F(NpyFile, AnImpossibleSizeIsRefusedWithoutAllocatingIt) {
  const std::string header = dict("'<f8'", "False", "(1000000000, 1000000000)");
  EXPECT_THAT(complaint<double>(put("in.npy", npy(header, "few"))),
              HasSubstr("needs 8000000000000000000 bytes"));
}

TEST_F(NpyFile, AnotherDtypeThanTheRunNamesBoth) {
  EXPECT_THAT(complaint<double>(put("in.npy", npy(good, bytes_of(six)))),
              AllOf(HasSubstr("holds float32"), HasSubstr("--dtype float32")));
}

TEST_F(NpyFile, WhatIsNoFile) {
  EXPECT_THAT(complaint(directory() / "absent.npy"),
              AllOf(HasSubstr("absent.npy"), HasSubstr("no such file")));
  EXPECT_THAT(complaint(directory()), HasSubstr("not a regular file"));
  EXPECT_THAT(complaint("/dev/zero"), HasSubstr("not a regular file"));
  EXPECT_THAT(complaint(std::string(5000, 'x')), HasSubstr("no such file"));
  EXPECT_THAT(complaint(put("empty.npy", "")), HasSubstr("empty"));
}

template <typename T>
Field<T> awkward_values() {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> values = {
      0, -T{0}, Limits::denorm_min(), Limits::max(), Limits::lowest(), Limits::infinity()};
  Field<T> field(3, 2);
  std::ranges::copy(values, field.cells().begin());
  return field;
}

TEST_F(NpyFile, WhatIsWrittenIsReadToTheBit) {
  const Field<float> field = awkward_values<float>();
  write_npy(directory() / "out.npy", field);
  const Field<float> again = read_npy<float>(directory() / "out.npy");
  EXPECT_EQ(std::memcmp(again.row(0), field.row(0), field.cells().size_bytes()), 0);
  write_npy(directory() / "out.npy", awkward_values<double>());
  EXPECT_EQ(read_npy<double>(directory() / "out.npy").row(0)[2],
            std::numeric_limits<double>::denorm_min());
}

TEST_F(NpyFile, TheHeaderIsWrittenAsNumpyWritesIt) {
  write_npy(directory() / "out.npy", awkward_values<double>());
  const std::string bytes = content_of(directory() / "out.npy");
  const std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, 118), text + std::string(117 - text.size(), ' ') + "\n");
  EXPECT_EQ(bytes.size(), 128 + 6 * sizeof(double));
}

TEST_F(NpyFile, AFailedWriteLeavesNothing) {
  message_of<Error>([&] { write_npy(directory() / "absent" / "out.npy", Field<float>(3, 3)); });
  EXPECT_EQ(file_count(), 0);
}

} // namespace
} // namespace diffbench
