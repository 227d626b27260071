// SPDX-License-Identifier: Apache-2.0
#include "tried_process.hpp"

#include "diffbench/stopwatch.hpp"
#include "diffbench/text.hpp"
#include "diffbench/with_dtype.hpp"
#include "host_compiler.hpp"
#include "interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace diffbench::bench {

namespace {

using Seconds = std::chrono::duration<double>;
namespace fs = std::filesystem;

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <typename T>
constexpr BitsOf<T> poison_bits = sizeof(T) == 4 ? BitsOf<T>{0xffc5'a5a5U}
                                                 : static_cast<BitsOf<T>>(0xfff8'a5a5'5a5a'a5a5ULL);

/// Of the guard zones: a NaN of its own at each place, so that what is copied there shows.
template <typename T>
T guard_at(std::size_t place) {
  constexpr std::uint64_t payload = 0x3f'fffe;
  const std::uint64_t mixed = (place + 1) * 0x9e37'79b9'7f4a'7c15ULL >> 40;
  const auto bits =
      (sizeof(T) == 4 ? 0xffc0'0000ULL : 0xfff8'0000'0000'0000ULL) + 1 + mixed % payload;
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}

/// It sees the system's programs and libraries, and its own folder; no network, no other process.
std::vector<std::string> bwrap_command(const fs::path& program,
                                       const std::vector<fs::path>& folders) {
  std::vector<std::string> command = {"bwrap", "--unshare-all", "--die-with-parent",
                                      "--uid", "65534",         "--gid",
                                      "65534", "--proc",        "/proc",
                                      "--dev", "/dev",          "--tmpfs",
                                      "/tmp"};
  for (const std::string folder :
       {"/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives", "/opt"}) {
    command.insert(command.end(), {"--ro-bind-try", folder, folder});
  }
  command.insert(command.end(), {"--ro-bind", program.string(), program.string()});
  for (const fs::path& own : folders) {
    command.insert(command.end(), {"--ro-bind", own.string(), own.string()});
  }
  command.insert(command.end(), {"--chdir", folders.front().string()});
  return command;
}

/// An answer: "error why", or "error lacking why" where it is for want of something.
[[noreturn]] void refused(std::string_view answer, std::string_view what = "") {
  std::string_view why = answer.substr(std::string_view("error ").size());
  constexpr std::string_view mark = "lacking ";
  const bool lacking = why.starts_with(mark);
  why.remove_prefix(lacking ? mark.size() : 0);
  throw SubmissionFailed(
      lacking || why.find("cannot open shared object file") != std::string_view::npos
          ? SubmissionFailed::Kind::lacking
          : SubmissionFailed::Kind::refused,
      fmt::format("{}{}", what, why));
}

} // namespace

std::string in_words(int status) {
  const int signal = status - 128;
  if (signal <= 0 || signal > SIGRTMAX) { // exit(-1) is 255
    return fmt::format("it ended with status {}", status);
  }
  switch (signal) {
    case SIGSEGV: return "it crashed: it used memory that is not its own (segmentation fault)";
    case SIGBUS: return "it crashed: it used memory that is not there (bus error)";
    case SIGFPE: return "it crashed: an integer was divided by 0";
    case SIGABRT: return "it crashed: it was aborted";
    case SIGILL: return "it crashed: an instruction that this CPU lacks";
    case SIGKILL: return "it was killed: it took more memory or time than it may";
    case SIGXCPU: return "it was killed: it took more CPU time than it may";
    case SIGSYS: return "it was killed: it made a system call that it may not";
    default: return fmt::format("it was ended by signal {} ({})", signal, strsignal(signal));
  }
}

NoticedFile::NoticedFile() : file_(memfd_create("findings", MFD_ALLOW_SEALING)) {
  fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
}

std::string NoticedFile::text() const {
  std::string text;
  std::array<char, 4096> part{};
  for (off_t at = 0;;) {
    const ssize_t bytes = pread(file_.get(), part.data(), part.size(), at);
    if (bytes <= 0) {
      break;
    }
    text.append(part.data(), static_cast<std::size_t>(bytes));
    at += bytes;
  }
  text.erase(text.rfind('\n') + 1); // a line that was cut off is none; npos + 1: nothing is left
  return text;
}

std::vector<std::string> confined_command(const TryLimits& limits, std::int64_t printed_bytes,
                                          int shared_fd, int noticed_fd,
                                          const std::vector<fs::path>& folders) {
  prctl(PR_SET_DUMPABLE,
        0); // others of this user cannot look into this process from now on (proc(5))
  constexpr int cpu_seconds = 3600; // where nobody ends it: the limit of a run is this process's
  const fs::path program = child_program();
  const bool alone = find_bwrap() == Bwrap::works;
  std::vector<std::string> command;
  if (alone) {
    command = bwrap_command(program, folders);
  }
  command.insert(command.end(), {program.string(), fmt::to_string(limits.memory_bytes),
                                 fmt::to_string(cpu_seconds), fmt::to_string(printed_bytes),
                                 alone ? "1" : "0", fmt::to_string(shared_fd),
                                 fmt::to_string(noticed_fd), fmt::to_string(limits.threads)});
  return command;
}

std::string unprotected_from(std::string lacking, bool was_compiled) {
  if (find_bwrap() != Bwrap::works) {
    lacking +=
        fmt::format("{}it can read what {} can read, since bwrap {}", lacking.empty() ? "" : "; ",
                    geteuid() == 0 ? "every user" : "you",
                    find_bwrap() == Bwrap::fails ? "does not work here"
                                                 : "is not installed (apt-get install bubblewrap)");
  }
  if (was_compiled && !compilers_can_be_confined()) {
    lacking += fmt::format("{}its compiler can do so, too, since the kernel has no Landlock",
                           lacking.empty() ? "what you can read, " : "; ");
  }
  return lacking;
}

template <typename T>
T poison() {
  return std::bit_cast<T>(poison_bits<T>);
}
template <typename T>
bool is_poison(T cell) {
  return std::bit_cast<BitsOf<T>>(cell) == poison_bits<T>;
}
template float poison<float>();
template double poison<double>();
template bool is_poison(float);
template bool is_poison(double);

Bwrap find_bwrap() {
  static const Bwrap found = [] {
    try {
      const auto status =
          ChildProcess({"bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"})
              .wait(Seconds(5));
      return status == 0 ? Bwrap::works : Bwrap::fails;
    } catch (const Error&) {
      return Bwrap::is_not_installed;
    }
  }();
  return found;
}

TriedProcess::SharedMemory::SharedMemory(std::size_t bytes)
    // Without MFD_CLOEXEC: the child finds it by its number.
    : file_(memfd_create("fields", 0)), bytes_(bytes) {
  void* address = MAP_FAILED;
  if (file_.get() >= 0 && ftruncate(file_.get(), static_cast<off_t>(bytes)) == 0) {
    address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  }
  if (address == MAP_FAILED) {
    throw Error(fmt::format("cannot share {} bytes of memory with a submission: {}", bytes,
                            std::strerror(errno)));
  }
  data_ = static_cast<std::byte*>(address);
}

TriedProcess::SharedMemory::~SharedMemory() { munmap(data_, bytes_); }

/// A guard ends where a field begins and begins where one ends, to the byte. No two fields begin at
/// the same place of a page: stores of one would else wait for loads of another
/// (docs/decisions.md).
TriedProcess::Places TriedProcess::places(std::size_t field_bytes) {
  constexpr std::size_t page = 4096;
  const auto after = [&](std::size_t begin, std::size_t stagger) {
    return (begin + field_bytes + guard_bytes + page - 1) / page * page + stagger;
  };
  Places places;
  places.field = field_bytes;
  places.in = guard_bytes;
  places.out = after(places.in, 1024);
  places.even = after(places.out, 2048);
  places.odd = after(places.even, 3072);
  places.end = after(places.odd, 0);
  return places;
}

TriedProcess::TriedProcess(const CompiledSubmission& submission, const TryLimits& limits,
                           std::int64_t largest, const fs::path& work_dir)
    : limits_(limits),
      shared_(places(static_cast<std::size_t>(largest)).end),
      child_(command(submission, work_dir)) {
  constexpr std::string_view mark = "lacking ";
  const double starting = std::max(60.0, limits_.seconds); // modules are imported
  const std::string first = receive(starting);
  if (!first.starts_with(mark)) {
    throw SubmissionFailed(SubmissionFailed::Kind::refused,
                           first.starts_with("error ") ? first.substr(6) : first);
  }
  unprotected_ = unprotected_from(first.substr(mark.size()), !submission.command.empty());
  const std::string ready = receive(starting);
  if (ready.starts_with("error ")) {
    refused(ready, "cannot be loaded: ");
  }
}

std::vector<std::string> TriedProcess::command(const CompiledSubmission& submission,
                                               const fs::path& work_dir) const {
  constexpr std::int64_t printed_bytes = 1 << 20;
  std::vector<std::string> command =
      confined_command(limits_, printed_bytes, shared_.fd(), noticed_.fd(), {work_dir});
  if (submission.interpreter.empty()) {
    command.insert(command.end(), {"run", submission.library.string()});
  } else {
    command.emplace_back("exec");
    command.insert(command.end(), submission.interpreter.begin(), submission.interpreter.end());
    command.insert(command.end(), {submission.library.string(), fmt::to_string(shared_.fd())});
  }
  return command;
}

void TriedProcess::ended() {
  const auto status = child_.wait(Seconds(2));
  const std::string words = child_.last_words(2);
  constexpr int first_signal = 128;
  throw SubmissionFailed(
      status && *status > first_signal && *status != first_signal + SIGKILL
          ? SubmissionFailed::Kind::crashed
          : SubmissionFailed::Kind::quit,
      fmt::format("{}{}{}", status ? in_words(*status) : "it closed the connection",
                  words.empty() ? "" : "; it said: ", words));
}

std::string TriedProcess::receive(double limit_seconds) {
  std::string line;
  const double allowed =
      limits_.allowance ? std::min(limit_seconds, limits_.allowance->left) : limit_seconds;
  const Stopwatch watch;
  const ChildProcess::Outcome outcome = child_.read_line(line, Seconds(allowed), interrupted);
  if (limits_.allowance) {
    limits_.allowance->left -= watch.seconds();
  }
  switch (outcome) {
    case ChildProcess::Outcome::line: return line;
    case ChildProcess::Outcome::closed: ended();
    case ChildProcess::Outcome::interrupted: child_.kill_now(); throw Interrupted();
    case ChildProcess::Outcome::timeout: break;
  }
  child_.kill_now();
  if (allowed < limit_seconds) {
    throw SubmissionFailed(SubmissionFailed::Kind::ended,
                           fmt::format("its runs together take more than {:g} s (--timeout)",
                                       limits_.allowance->seconds));
  }
  throw SubmissionFailed(
      SubmissionFailed::Kind::hung,
      fmt::format("it did not come back within {:g} s (--timeout)", limit_seconds));
}

std::string TriedProcess::ask(const std::string& request) {
  child_.go_on();
  if (!child_.write_line(request)) {
    ended();
  }
  const std::string answer = receive(limits_.seconds);
  if (answer.starts_with("error ")) {
    refused(answer);
  }
  return answer;
}

void TriedProcess::open(const Problem& problem, Form form) {
  problem_ = problem;
  places_ = places(static_cast<std::size_t>(problem.field_bytes()));
  const double factor = with_dtype(
      problem.dtype, [&]<typename T>(T) -> double { return problem.update_factor<T>(); });
  ask(fmt::format("open {} {} {} {} {} {:.17g} {:.17g} {} {} {} {}", to_string(form),
                  to_string(problem.dtype), problem.nx, problem.ny,
                  static_cast<int>(problem.boundary), problem.boundary_value, factor, places_.in,
                  places_.out, places_.even, places_.odd));
}

void TriedProcess::close() { ask("close"); }

bool TriedProcess::knows(Boundary boundary) {
  const auto known = parse_number<int>(told("boundaries"));
  return known && (*known >> static_cast<int>(boundary) & 1) != 0;
}

std::string TriedProcess::told(const std::string& what) {
  const std::string answer = ask(what);
  if (!answer.starts_with(what + " ")) { // the submission has found the socket, too
    throw SubmissionFailed(SubmissionFailed::Kind::refused,
                           "it answers in the place of its process");
  }
  return answer.substr(what.size() + 1);
}

std::string TriedProcess::early_findings() const {
  std::string text = "[" + noticed_.text();
  text.resize(text.size() > 1 ? text.size() - 1 : 1); // the last line's end
  std::ranges::replace(text, '\n', ',');
  return text + "]";
}

template <typename T>
void TriedProcess::fill(const Field<T>& field) {
  std::size_t begin = 0; // of a guard
  for (const std::size_t place :
       {places_.in, places_.out, places_.even, places_.odd, places_.end}) {
    for (std::size_t at = begin; at + sizeof(T) <= place; at += sizeof(T)) {
      const T mark = guard_at<T>(at);
      std::memcpy(shared_.data() + at, &mark, sizeof(T));
    }
    begin = place + places_.field;
    if (place == places_.in) {
      std::memcpy(shared_.data() + place, field.cells().data(), places_.field);
    } else if (place != places_.end) {
      std::fill_n(reinterpret_cast<T*>(shared_.data() + place), places_.field / sizeof(T),
                  poison<T>());
    }
  }
}

template <typename T>
std::optional<std::string> TriedProcess::broken_guard() const {
  std::size_t begin = 0; // of a guard
  const char* before = "";
  for (const auto& [end, after] : {std::pair{places_.in, "the input"},
                                   {places_.out, "the output"},
                                   {places_.even, "the output"},
                                   {places_.odd, "the output"},
                                   {places_.end, ""}}) {
    for (std::size_t at = begin; at + sizeof(T) <= end; at += sizeof(T)) {
      T cell;
      std::memcpy(&cell, shared_.data() + at, sizeof(T));
      if (std::bit_cast<BitsOf<T>>(cell) != std::bit_cast<BitsOf<T>>(guard_at<T>(at))) {
        const bool behind = begin > 0 && (end == places_.end || at - begin < end - at);
        return fmt::format("it wrote outside of {}, {} cells {}", behind ? before : after,
                           behind ? (at - begin) / sizeof(T) + 1 : (end - at) / sizeof(T),
                           behind ? "behind its end" : "before its start");
      }
    }
    begin = end + places_.field;
    before = after;
  }
  return std::nullopt;
}

template <typename T>
TriedRun<T> TriedProcess::run(const Field<T>& field, std::int64_t steps) {
  child_.stop();
  fill(field);
  const std::byte* const memory = shared_.data();
  const Stopwatch watch;
  ask(fmt::format("run {}", steps));
  const double seconds = watch.seconds();
  child_.stop();

  TriedRun<T> done{.result = Field<T>(field.nx(), field.ny()), .seconds = seconds};
  std::memcpy(done.result.cells().data(), memory + places_.out, places_.field);
  done.input_changed = std::memcmp(memory + places_.in, field.cells().data(), places_.field) != 0;
  done.outside = broken_guard<T>();
  return done;
}
template TriedRun<float> TriedProcess::run(const Field<float>&, std::int64_t);
template TriedRun<double> TriedProcess::run(const Field<double>&, std::int64_t);

} // namespace diffbench::bench
