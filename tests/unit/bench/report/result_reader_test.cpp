// SPDX-License-Identifier: Apache-2.0
#include "result_reader.hpp"

#include "json.hpp"

#include "diffbench/errors.hpp"
#include "result_file.hpp"
#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace diffbench::bench {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* foreign = R"({"context": {}, "benchmarks": [{"name": "BM_copy"}]})";

class ResultReader : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path put(const std::string& content) const {
    const std::filesystem::path path = directory_.path() / "in.json";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  /// What is said of a file; "read" where nothing is.
  static std::string complaint_about(const std::filesystem::path& path, Origin origin) {
    try {
      (void)read_result_file(path, origin);
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(path.string()), Not(HasSubstr("\n"))));
      return error.what();
    }
    return "read";
  }
  [[nodiscard]] std::string complaint(const std::string& content,
                                      Origin origin = Origin::any_benchmark) const {
    return complaint_about(put(content), origin);
  }

  TemporaryDirectory directory_;
};

TEST_F(ResultReader, ReadsWhatResultFileMakes) {
  const Value result = result_file({{"cpu_model", "Test CPU"}}, {}, {{"schema", result_schema}});
  const ordered_json written = json_of(result);
  const std::filesystem::path path = put(to_text(result));
  EXPECT_EQ(read_result_file(path, Origin::ours), written);
  EXPECT_EQ(read_result_file(path, Origin::any_benchmark), written);
}

TEST_F(ResultReader, FilesOfGoogleBenchmarkOnlyWhereAnyBenchmarkWillDo) {
  EXPECT_EQ(complaint(foreign, Origin::any_benchmark), "read");
  EXPECT_THAT(complaint(foreign, Origin::ours), HasSubstr("another program"));
}

TEST_F(ResultReader, OnlyOurSchema) {
  auto with_own = [](const std::string& own) {
    return R"({"context": {}, "benchmarks": [], "diffbench": )" + own + "}";
  };
  for (const Origin origin : {Origin::ours, Origin::any_benchmark}) {
    EXPECT_EQ(complaint(with_own(R"({"schema": 1})"), origin), "read");
    EXPECT_THAT(complaint(with_own(R"({"schema": 2})"), origin), HasSubstr("newer diffbench"));
    EXPECT_THAT(complaint(with_own(R"({"schema": 0})"), origin), HasSubstr("schema 0"));
    for (const char* without :
         {"{}", "[]", "7", "null", R"({"schema": "1"})", R"({"schema": 1.5})"}) {
      EXPECT_THAT(complaint(with_own(without), origin), HasSubstr("no schema")) << without;
    }
  }
}

TEST_F(ResultReader, OtherJsonIsRefused) {
  for (const char* other :
       {"[]", "7", "null", "\"text\"", "{}", R"({"context": {}})", R"({"benchmarks": []})",
        R"({"context": [], "benchmarks": []})", R"({"context": {}, "benchmarks": {}})",
        R"({"context": {}, "benchmarks": [7]})"}) {
    EXPECT_THAT(complaint(other), HasSubstr("no result file")) << other;
    EXPECT_THAT(complaint(other, Origin::ours), HasSubstr("no result file")) << other;
  }
}

TEST_F(ResultReader, EveryTruncationIsRefused) {
  const std::string whole = foreign;
  for (std::size_t length = 1; length < whole.size(); ++length) {
    EXPECT_THAT(complaint(whole.substr(0, length)), HasSubstr("not JSON, or was cut off"));
  }
}

TEST_F(ResultReader, WhatIsNotJsonIsRefused) {
  for (const char* text :
       {"hello", "\x93NUMPY\x01", R"({"a": NaN})", "{\"a\": \"\xff\"}", "{}{}"}) {
    EXPECT_THAT(complaint(text), HasSubstr("not JSON")) << text;
  }
  EXPECT_THAT(complaint(R"({"a": 1e999})"), HasSubstr("range of a double"));
  // Deeper than any stack: neither reading nor letting go may recurse.
  EXPECT_THAT(complaint(std::string(1'000'000, '[')), HasSubstr("nests deeper than"));
  EXPECT_THAT(complaint(std::string(1'000'000, '[') + std::string(1'000'000, ']')),
              HasSubstr("no result file"));
}

TEST_F(ResultReader, WhatIsNoFileIsRefused) {
  const std::filesystem::path& directory = directory_.path();
  EXPECT_THAT(complaint_about(directory / "missing.json", Origin::ours), HasSubstr("no such file"));
  EXPECT_THAT(complaint_about(directory, Origin::ours), HasSubstr("not a regular file"));
  EXPECT_THAT(complaint_about("/dev/zero", Origin::ours), HasSubstr("not a regular file"));
  EXPECT_THAT(complaint(""), HasSubstr("is empty"));
}

TEST_F(ResultReader, AHugeFileIsRefusedUnread) {
  const std::filesystem::path path = put(foreign);
  std::filesystem::resize_file(path, (std::uintmax_t{256} << 20) + 1); // takes no room on the disk
  EXPECT_THAT(complaint_about(path, Origin::ours), HasSubstr("256 MiB"));
}

} // namespace
} // namespace diffbench::bench
