// SPDX-License-Identifier: Apache-2.0
// A submission that runs in a process of its own, and what passes between the two.
//
// This side has the clock, the fields and the guard zones: the fields lie in memory that both
// processes share, the other one is stopped (SIGSTOP) whenever this one writes or reads them, and
// what a run should have given is computed only afterwards.
#pragma once

#include "child_process.hpp"
#include "compiled_submission.hpp"
#include "diffbench/errors.hpp"
#include "diffbench/field.hpp"
#include "diffbench/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace diffbench::bench {

/// It ended, hung, or said that it failed; what() says how.
class SubmissionFailed : public Error {
 public:
  enum class Kind {
    crashed,
    quit, ///< by itself, or killed: it may be for want of something
    hung,
    refused,
    lacking, ///< something that is not on this machine
    ended    ///< in time as to this run, but all runs together took too long
  };
  SubmissionFailed(Kind kind, const std::string& what) : Error(what), kind_(kind) {}
  [[nodiscard]] Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// Seconds that all processes of a file may take together, by the time that is waited for them.
struct Allowance {
  double seconds = 0;
  double left = seconds;
  [[nodiscard]] bool is_spent() const { return !(left > 0); }
};

struct TryLimits {
  double seconds = 10; ///< of one run
  int threads = 0;     ///< of its teams, whatever the environment says; 0: as that says
  std::int64_t memory_bytes = std::int64_t{4} << 30;
  std::shared_ptr<Allowance> allowance = {}; ///< null: as long as they like
};

/// Bytes of guard before, between and behind the fields.
inline constexpr std::size_t guard_bytes = 65'536;

/// What `out` holds before a run: a NaN that no arithmetic makes. Guard zones hold others.
template <typename T>
[[nodiscard]] T poison();
template <typename T>
[[nodiscard]] bool is_poison(T cell);

/// What one run did.
template <typename T>
struct TriedRun {
  Field<T> result;
  double seconds = 0; ///< from the field's being there to the result's being there
  bool input_changed = false;
  std::optional<std::string> outside = {}; ///< where it wrote outside of the fields
};

/// What an emulation notices, as it comes: lines of JSON in a file in memory that only grows.
class NoticedFile {
 public:
  NoticedFile();
  [[nodiscard]] int fd() const { return file_.get(); }
  [[nodiscard]] std::string text() const; ///< whole lines

 private:
  FileDescriptor file_;
};

class TriedProcess {
 public:
  /// Starts it; `largest` is the bytes of the largest field that will come. `work_dir` is the one
  /// folder that it sees where bwrap is installed. Throws Error where it cannot be started, and
  /// SubmissionFailed where the submission cannot be loaded.
  TriedProcess(const CompiledSubmission& submission, const TryLimits& limits, std::int64_t largest,
               const std::filesystem::path& work_dir);
  TriedProcess(const TriedProcess&) = delete;
  TriedProcess& operator=(const TriedProcess&) = delete;

  /// A problem, of which the following runs are. Throws SubmissionFailed.
  void open(const Problem& problem, Form form);
  /// Runs `steps` from `field`. Throws SubmissionFailed, Interrupted.
  template <typename T>
  [[nodiscard]] TriedRun<T> run(const Field<T>& field, std::int64_t steps);
  /// Ends the problem's session. Throws SubmissionFailed.
  void close();
  /// Whether a session knows that boundary, by what diffbench_boundaries() says of it. Throws
  /// SubmissionFailed.
  [[nodiscard]] bool knows(Boundary boundary);
  /// JSON text of what an emulation noticed or counted; "null" where there was none.
  [[nodiscard]] std::string findings() { return told("findings"); }
  [[nodiscard]] std::string counts() { return told("counts"); }
  /// The same of what was noticed until now, also where the process has ended since.
  [[nodiscard]] std::string early_findings() const;

  // Of an emulation, before anything is opened. Throw SubmissionFailed.
  /// Another order of threads and blocks.
  void choose_schedule(std::uint64_t seed) { ask(fmt::format("schedule {}", seed)); }
  /// Counts sectors, too, which takes time.
  void count_traffic() { ask("traffic"); }
  /// That device checks launches from now on, and runs no kernel.
  void check_launches_only() { ask("launches"); }

  [[nodiscard]] pid_t pid() const { return child_.pid(); }
  /// What it is not kept from, in words; empty: from nothing that we know.
  [[nodiscard]] const std::string& unprotected() const { return unprotected_; }

 private:
  struct Places {
    std::size_t in = 0, out = 0, even = 0, odd = 0, end = 0, field = 0;
  };
  /// The fields' memory: gone with its owner.
  class SharedMemory {
   public:
    explicit SharedMemory(std::size_t bytes);
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory();
    [[nodiscard]] int fd() const { return file_.get(); }
    [[nodiscard]] std::byte* data() const { return data_; }

   private:
    FileDescriptor file_;
    std::size_t bytes_;
    std::byte* data_ = nullptr;
  };

  [[nodiscard]] static Places places(std::size_t field_bytes);
  [[nodiscard]] std::vector<std::string> command(const CompiledSubmission& submission,
                                                 const std::filesystem::path& work_dir) const;
  std::string receive(double limit_seconds);
  std::string ask(const std::string& request);
  std::string told(const std::string& what);
  [[noreturn]] void ended();
  template <typename T>
  void fill(const Field<T>& field);
  template <typename T>
  [[nodiscard]] std::optional<std::string> broken_guard() const;

  TryLimits limits_;
  SharedMemory shared_;
  NoticedFile noticed_;
  std::string unprotected_;
  ChildProcess child_;
  Places places_;
  Problem problem_;
};

/// How a process ended, by its exit status, or 128 + n after signal n.
[[nodiscard]] std::string in_words(int status);

/// The words of the process in which code of somebody else's runs, but those that say what. It
/// reads `folders` of this user's, where bwrap is installed, and begins in the first one.
[[nodiscard]] std::vector<std::string> confined_command(
    const TryLimits& limits, std::int64_t printed_bytes, int shared_fd, int noticed_fd,
    const std::vector<std::filesystem::path>& folders);
/// What such a process is not kept from, with what it says itself.
[[nodiscard]] std::string unprotected_from(std::string lacking, bool was_compiled);

/// Whether bwrap(1) can be used here: asked once.
enum class Bwrap { works, fails, is_not_installed };
[[nodiscard]] Bwrap find_bwrap();

} // namespace diffbench::bench
