// SPDX-License-Identifier: Apache-2.0
#include "diffbench/atomic_file.hpp"

#include "scratch.hpp"

#include <ostream>
#include <stdexcept>

#include <gmock/gmock.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST_F(AtomicFile, APipeIsWrittenDirectly) {
  const fs::path path = directory() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  write_atomically(path, write_text);
  char text[8] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 3);
  EXPECT_STREQ(text, "new");
  EXPECT_TRUE(fs::is_fifo(path));
  ::close(reader);
}

TEST_F(AtomicFile, APipeWithoutAReaderIsAnError) {
  const fs::path path = directory() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(message_of<Error>([&] { write_atomically(path, write_text); }),
              HasSubstr("nobody reads"));
}

TEST_F(AtomicFile, AFullDeviceIsAnError) {
  EXPECT_THAT(message_of<Error>([&] { write_atomically(full_device(), write_text); }),
              HasSubstr("No space left"));
  EXPECT_EQ(file_count(), 1); // the link to it
}

TEST_F(AtomicFile, ADiskThatFillsUpLeavesTheOldFileAndNoTemporary) {
  const fs::path path = put("out", "old");
  // A limit on the size of files fails a write late, as a full disk does.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string message = "no error";
  try {
    write_atomically(path, write_text);
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before); // before gtest writes anything
  ::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("File too large"));
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(file_count(), 1);
}

} // namespace
} // namespace diffbench
