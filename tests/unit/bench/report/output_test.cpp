// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"
#include "diffbench/terminal_text.hpp"
#include "diffbench/text.hpp"

#include "temporary_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>
#include <fstream>
#include <sstream>

namespace diffbench::bench {
namespace {

namespace fs = std::filesystem;

TEST(WriteOut, AFullDiskIsAnError) {
  std::ofstream full("/dev/full");
  EXPECT_THROW(write_out(full, "text"), Error);
}

TEST(WriteOut, AReaderThatWentAwayIsKnown) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  std::ofstream closed("/dev/fd/" + std::to_string(ends[1]));
  if (!closed) {
    GTEST_SKIP() << "/dev/fd cannot be opened for a pipe without a reader";
  }
  EXPECT_THROW(write_out(closed, "text"), OutputClosed);
  ::close(ends[1]);
}

class CheckWritable : public testing::Test {
 protected:
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()));
  }
  TemporaryDirectory directory_;
};

TEST_F(CheckWritable, AGoodPathLeavesNothingBehind) {
  EXPECT_NO_THROW(
      check_writable_file("--json", directory_.path() / "out.json", kind_of_output::json));
  EXPECT_NO_THROW(check_writable_directory("--snapshot-dir", directory_.path() / "new"));
  EXPECT_EQ(files(), 0U);
}

TEST_F(CheckWritable, AnExistingFileIsNotTouched) {
  const fs::path path = directory_.path() / "out.json";
  const std::string text = R"({"executable": "diffbench", "precious": 1})";
  std::ofstream(path) << text;
  EXPECT_NO_THROW(check_writable_file("--json", path, kind_of_output::json));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text);
}

TEST_F(CheckWritable, BadPaths) {
  EXPECT_THROW(check_writable_file("--json", directory_.path(), kind_of_output::json), Error);
  EXPECT_THROW(
      check_writable_file("--json", directory_.path() / "none" / "out.json", kind_of_output::json),
      Error);
  const fs::path file = directory_.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_THROW(check_writable_directory("--snapshot-dir", file), Error);
  EXPECT_THROW(check_writable_file("--json", file / "below", kind_of_output::json), Error);
}

TEST_F(CheckWritable, ADeviceIsFine) {
  EXPECT_NO_THROW(check_writable_file("--json", "/dev/null", kind_of_output::json));
}

TEST_F(CheckWritable, APipeNeedsAReaderAndKeepsIt) {
  const fs::path pipe = directory_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(check_writable_file("--json", pipe, kind_of_output::json),
               Error); // and does not wait for one
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_NO_THROW(check_writable_file("--json", pipe, kind_of_output::json));
  char byte = 0;
  EXPECT_EQ(::read(reader, &byte, 1), -1) << "the reader saw the end"; // EAGAIN: nothing yet
  ::close(reader);
}

TEST(WriteText, HasNoControlCharactersButLineEnds) {
  std::ostringstream out;
  write_text(out, "a\x1b[31m.json\n\xc3\xa4\n");
  EXPECT_EQ(out.str(), "a?[31m.json\n\xc3\xa4\n");
}

TEST(OutputsTest, FilesThatWereWrittenAreNamedInOneLine) {
  const TemporaryDirectory directory;
  const std::string json = directory.path() / "a.json";
  const std::string csv = directory.path() / "b\x1b.csv";
  std::ostringstream out;
  std::ostringstream err;
  Outputs outputs;
  for (const std::string& path : {json, std::string("-"), std::string("/dev/null"), csv}) {
    outputs.write(out, path, [] { return "text"; });
  }
  outputs.finish(err);
  EXPECT_EQ(err.str(), "diffbench: wrote " + json + ", " + one_line(csv) + "\n");
}

TEST(OutputsTest, AFailureIsAllThatIsSaid) {
  const TemporaryDirectory directory;
  std::ostringstream out;
  std::ostringstream err;
  Outputs outputs;
  outputs.write(out, directory.path() / "a.json", [] { return "text"; });
  outputs.write(out, directory.path() / "none" / "b.csv", [] { return "text"; });
  EXPECT_THROW(outputs.finish(err), Error);
  EXPECT_EQ(err.str(), "");
}

TEST(RefuseToOverwrite, AnInputByWhateverPath) {
  const TemporaryDirectory directory;
  const fs::path input = directory.path() / "in.json";
  const fs::path link = directory.path() / "link.json";
  std::ofstream(input) << "{}";
  fs::create_symlink(input, link);
  const std::string inputs[] = {"nowhere.json", input};
  for (const fs::path& output : {input, link, directory.path() / "." / "in.json"}) {
    EXPECT_THROW(refuse_to_overwrite("--csv", output, inputs), InvalidInput) << output;
  }
  for (const fs::path& output : {fs::path(), fs::path("-"), directory.path() / "out.csv"}) {
    EXPECT_NO_THROW(refuse_to_overwrite("--csv", output, inputs)) << output;
  }
}

TEST(WithoutControls, NothingThatSteersATerminalIsLeft) {
  EXPECT_EQ(without_controls("\x1b[31mred\x7f\r\n", '?'), "?[31mred???");
  EXPECT_EQ(without_controls("a\nb\tc", '?', "\n"), "a\nb?c");
  EXPECT_EQ(without_controls("\xc2\x9b"
                             "31m",
                             '?'),
            "?31m"); // U+009B
  EXPECT_EQ(without_controls("\x9b"
                             "31m",
                             '?'),
            "?31m"); // the byte alone
  for (const char* mark : {"\xe2\x80\xae", "\xe2\x80\x8f", "\xe2\x81\xa6", "\xe2\x81\xa9",
                           "\xd8\x9c", "\xe2\x80\xa8"}) {
    EXPECT_EQ(without_controls(std::string("a") + mark + "b", '?'), "a?b");
  }
  for (const char* text : {"µs ±2 %, é", "▀█ 漢字", "\xf0\x9f\x98\x80", "\xc2\xa0"}) {
    EXPECT_EQ(without_controls(text, '?'), text);
  }
  EXPECT_EQ(without_controls("\xe2\x80", '?'), "??"); // cut off
  EXPECT_EQ(without_controls("\xc0\x9b\xff", '?'), "???");
}

TEST(OneLine, HoldsNoControlCharacters) { EXPECT_EQ(one_line("a\nb\x1b[0m\tc"), "a b [0m c"); }

} // namespace
} // namespace diffbench::bench
