// SPDX-License-Identifier: Apache-2.0
#include "file_part.hpp"

#include "scratch.hpp"

#include <gmock/gmock.h>

namespace diffbench::cluster {
namespace {

using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class FilePartTest : public ScratchTest {};

TEST_F(FilePartTest, WritesAtItsPlaceAndNothingElse) {
  const auto file = put("file", "0123456789");
  write_part(file, 3, bytes_of("abc"), Flush::yes);
  write_part(file, 8, bytes_of("xyz"), Flush::no);
  write_part(file, 0, {}, Flush::yes);
  EXPECT_EQ(content_of(file), "012abc67xyz");
}

TEST_F(FilePartTest, SaysWhatFails) {
  const auto complaint = [](const std::filesystem::path& file) {
    return message_of<Error>([&] { write_part(file, 0, bytes_of("abc"), Flush::no); });
  };
  EXPECT_THAT(complaint(directory() / "missing"), HasSubstr("No such file"));
  EXPECT_THAT(complaint(full_device()), HasSubstr("No space left"));
}

} // namespace
} // namespace diffbench::cluster
