#include "diffbench/atomic_file.hpp"

#include "scratch.hpp"

#include <ostream>
#include <stdexcept>

#include <gmock/gmock.h>

namespace diffbench {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

void write_text(std::ostream& stream) { stream << "new"; }

class AtomicFile : public ScratchTest {};

TEST_F(AtomicFile, WritesANewFile) {
  write_atomically(directory() / "out", write_text);
  EXPECT_EQ(content_of(directory() / "out"), "new");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(AtomicFile, ReplacesAnEarlierFileAndKeepsItsPermissions) {
  const fs::path path = put("out", "a longer old content");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  write_atomically(path, write_text);
  EXPECT_EQ(content_of(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(file_count(), 1);
}

TEST_F(AtomicFile, TheTargetIsUntouchedUntilTheWriterIsDone) {
  const fs::path path = put("out", "old");
  write_atomically(path, [&](std::ostream& stream) {
    stream << "new" << std::flush;
    EXPECT_EQ(content_of(path), "old");
  });
  EXPECT_EQ(content_of(path), "new");
}

TEST_F(AtomicFile, AWriterThatThrowsLeavesTheOldFileAndNoTemporary) {
  const fs::path path = put("out", "old");
  EXPECT_THROW(write_atomically(path,
                                [](std::ostream& stream) {
                                  stream << "half";
                                  throw std::logic_error("midway");
                                }),
               std::logic_error);
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(AtomicFile, AStreamThatFailsLeavesTheOldFileAndNoTemporary) {
  const fs::path path = put("out", "old");
  message_of<Error>([&] {
    write_atomically(path, [](std::ostream& stream) { stream.setstate(std::ios::badbit); });
  });
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(file_count(), 1);
}

TEST_F(AtomicFile, ALinkStaysALink) {
  const fs::path path = put("out", "old");
  fs::create_symlink("out", directory() / "link");
  write_atomically(directory() / "link", write_text);
  EXPECT_TRUE(fs::is_symlink(directory() / "link"));
  EXPECT_EQ(content_of(path), "new");
}

TEST_F(AtomicFile, APathThatCannotBeWrittenIsNamedWithTheReason) {
  const fs::path inside_a_file = put("file", "") / "out";
  EXPECT_THAT(message_of<Error>([&] { write_atomically(inside_a_file, write_text); }),
              HasSubstr("Not a directory"));
  const fs::path absent = directory() / "absent" / "out";
  const std::string message = message_of<Error>([&] { write_atomically(absent, write_text); });
  EXPECT_THAT(message, HasSubstr("'" + absent.string() + "'"));
  EXPECT_THAT(message, HasSubstr("No such file or directory"));
  EXPECT_THAT(message_of<Error>([&] { write_atomically(directory(), write_text); }),
              HasSubstr("Is a directory"));
  // Refuses new files to everybody, root included.
  message_of<Error>([] { write_atomically("/proc/diffbench", write_text); });
  message_of<Error>([] { write_atomically("", write_text); });
}

TEST_F(AtomicFile, WhatIsNoRegularFileIsWrittenDirectly) {
  write_atomically("/dev/null", write_text);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(AtomicFile, AFullDiskIsAnError) {
  EXPECT_THAT(message_of<Error>([] { write_atomically("/dev/full", write_text); }),
              HasSubstr("No space left"));
}

} // namespace
} // namespace diffbench
