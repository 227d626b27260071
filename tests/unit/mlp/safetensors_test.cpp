// SPDX-License-Identifier: Apache-2.0
#include "diffbench/mlp/safetensors.hpp"
#include "diffbench/errors.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>

namespace diffbench::mlp {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class SafetensorsTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove(file_); }

  /// A file of this header, with the size it says or the true one, and `count` floats 1, 2, 3, ...
  void write(const std::string& header, int count, std::int64_t claimed = -1) {
    const std::uint64_t size = claimed < 0 ? header.size() : static_cast<std::uint64_t>(claimed);
    std::ofstream out(file_, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&size), sizeof size);
    out << header;
    for (int i = 1; i <= count; ++i) {
      const auto value = static_cast<float>(i);
      out.write(reinterpret_cast<const char*>(&value), sizeof value);
    }
  }
  std::string refusal() {
    try {
      (void)read_safetensors(file_);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  fs::path file_ =
      fs::temp_directory_path() / ("diffbench-" + std::to_string(::getpid()) + ".safetensors");
};

TEST_F(SafetensorsTest, WhatIsWrittenIsRead) {
  const Network network({3, 5, 2});
  std::vector<float> parameters(static_cast<std::size_t>(network.parameters()));
  std::iota(parameters.begin(), parameters.end(), 0.5F);
  write_safetensors(file_, network, parameters);
  const Model model = read_safetensors(file_);
  EXPECT_EQ(model.network, network);
  EXPECT_EQ(model.parameters, parameters);
}

TEST_F(SafetensorsTest, ParametersThatAreNotFiniteAreRefused) {
  const Network network({1, 2});
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -HUGE_VALF}) {
    write_safetensors(file_, network, std::vector<float>{1, bad, 3, 4});
    EXPECT_THAT(refusal(), HasSubstr("tensor 0.weight holds 1 values that are NaN or infinite"));
  }
}

TEST_F(SafetensorsTest, APipeIsRefused) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

// As PyTorch's state_dict() of a Sequential inside a module, stored in another order.
TEST_F(SafetensorsTest, LayersAreInTheOrderOfTheirNumbers) {
  write(R"({"net.10.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
        R"("net.10.bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},)"
        R"("net.2.bias":{"dtype":"F32","shape":[2],"data_offsets":[12,20]},)"
        R"("net.2.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[20,28]},)"
        R"("__metadata__":{"format":"pt"}})",
        7);
  const Model model = read_safetensors(file_);
  EXPECT_EQ(to_string(model.network), "1,2,1");
  EXPECT_THAT(model.parameters, ElementsAre(6, 7, 4, 5, 1, 2, 3));
}

TEST_F(SafetensorsTest, ATensorWithoutNumbersIsNoLayer) {
  write(R"({"0.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
        R"("none":{"dtype":"F32","shape":[0],"data_offsets":[16,16]},)"
        R"("0.bias":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
        4);
  EXPECT_EQ(to_string(read_safetensors(file_).network), "1,2");
}

TEST_F(SafetensorsTest, DamagedFilesAreRefused) {
  const std::string good = R"({"0.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                           R"("0.bias":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})";
  write(good, 4);
  EXPECT_EQ(to_string(read_safetensors(file_).network), "1,2");
  auto changed = [&](const std::string& from, const std::string& to, int count = 4) {
    std::string header = good;
    header.replace(header.find(from), from.size(), to);
    write(header, count);
    return refusal();
  };
  EXPECT_THAT(changed("[8,16]", "[4,12]"), HasSubstr("overlap"));
  EXPECT_THAT(changed("[8,16]", "[12,20]", 5), HasSubstr("leave bytes"));
  EXPECT_THAT(changed("[8,16]", "[8,20]"), HasSubstr("0.bias has data_offsets that do not fit"));
  EXPECT_THAT(changed("[8,16]", "[16,8]"), HasSubstr("0.bias has data_offsets that do not fit"));
  EXPECT_THAT(changed("[8,16]", "[8,1e3]"), HasSubstr("strange data_offsets"));
  EXPECT_THAT(changed("[8,16]", "[8,-16]"), HasSubstr("strange data_offsets"));
  EXPECT_THAT(changed("[2,1]", "[4294967296,4294967296]"), HasSubstr("larger than the file"));
  EXPECT_THAT(changed("[2,1]", "[0,1]"), HasSubstr("do not fit its shape"));
  EXPECT_THAT(changed("[2,1]", "[1,2]"), HasSubstr("not a linear layer"));
  EXPECT_THAT(changed("F32", "BF16"), HasSubstr("dtype BF16"));
  EXPECT_THAT(changed("\"F32\"", "7"), HasSubstr("dtype none"));
  EXPECT_THAT(changed("0.bias", "1.bias"), HasSubstr("lacks"));
  EXPECT_THAT(changed("0.bias", "0.scale"), HasSubstr("neither weights nor biases"));
  EXPECT_THAT(changed("0.bias", "\\u001b[31m.scale"), HasSubstr("tensor ?[31m.scale is neither"));
  EXPECT_THAT(changed("0.bias", "x.bias"), HasSubstr("which layer it belongs to"));
  EXPECT_THAT(changed("{", "[", 4), HasSubstr("not a JSON object"));
  write(good, 5);
  EXPECT_THAT(refusal(), HasSubstr("belong to no tensor"));
  write(good, 3);
  EXPECT_THAT(refusal(), HasSubstr("do not fit"));
  write(R"({"0.weight":{"dtype":"F32","shape":[1,1048577],"data_offsets":[0,4194308]},)"
        R"("0.bias":{"dtype":"F32","shape":[1],"data_offsets":[4194308,4194312]}})",
        1048578);
  EXPECT_THAT(refusal(), HasSubstr("layer 0 is wider than 1048576"));
  write("{}", 0);
  EXPECT_THAT(refusal(), HasSubstr("no layers"));
  write(good, 4, std::int64_t{2} << 30);
  EXPECT_THAT(refusal(), HasSubstr("claims a header of 2147483648 bytes"));
  std::ofstream(file_) << "1234";
  EXPECT_THAT(refusal(), HasSubstr("too short"));
  fs::remove(file_);
  EXPECT_THAT(refusal(), HasSubstr("cannot be opened"));
}

} // namespace
} // namespace diffbench::mlp
