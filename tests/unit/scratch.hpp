// SPDX-License-Identifier: Apache-2.0
// A directory of its own for each test that touches files, whole files in and out of it, and the
// error that a call throws.
#pragma once

#include "diffbench/errors.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <stdlib.h>

namespace diffbench {

class ScratchTest : public testing::Test {
 public:
  ScratchTest() {
    std::string pattern = testing::TempDir() + "diffbench-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error("cannot make " + pattern);
    }
    directory_ = pattern;
  }
  ~ScratchTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

  std::filesystem::path put(const std::filesystem::path& name, std::string_view content) const {
    const std::filesystem::path path = directory_ / name.relative_path();
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  static std::string content_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  // /dev/full through a link: code that wrongly renames onto its target then replaces the link, and
  // not, when the tests run as root, the machine's device.
  [[nodiscard]] std::filesystem::path full_device() const {
    std::filesystem::create_symlink("/dev/full", directory_ / "full");
    return directory_ / "full";
  }

  [[nodiscard]] std::ptrdiff_t file_count() const {
    return std::distance(std::filesystem::directory_iterator(directory_), {});
  }

 private:
  std::filesystem::path directory_;
};

// The message of the `Expected` that `call` throws; empty, with a failure, if it throws none. Every
// message must be fit to be printed as one line.
template <typename Expected, typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Expected& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), message.npos) << message;
    return message;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error was thrown: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

} // namespace diffbench
