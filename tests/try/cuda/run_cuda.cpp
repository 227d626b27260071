// Compiles a .cu file for the emulated CUDA runtime and runs it in a child process:
//
//   diffbench_run_cuda FILE SCHEDULES [KIND]
//
// One line of JSON: "form", "right" (the oracle's bits in every schedule), "ended" (the child's
// exit status), "findings" and "counts"; ends with the first finding, of that kind. A file that is
// refused: the message on stderr, and exit status 1.
#include "cuda/emulated_cuda.hpp"
#include "diffbench/errors.hpp"
#include "temporary_directory.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <diffbench_try.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using diffbench::bench::Submission;

constexpr int nx = 37, ny = 29; // odd, and no multiples of a block
constexpr int steps = 3;
constexpr float factor = 0.21875f;

std::vector<float> field(std::uint64_t seed) {
  std::vector<float> cells(std::size_t{nx} * ny);
  std::uint64_t state = seed * 2 + 1;
  for (float& cell : cells) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    cell = static_cast<float>(state >> 40) * 0x1p-24f;
  }
  return cells;
}

std::vector<float> solved(std::vector<float> u) {
  for (int step = 0; step < steps; ++step) {
    const std::vector<float> old = u;
    const auto at = [&old](int x, int y) {
      return old[static_cast<std::size_t>((y + ny) % ny * nx + (x + nx) % nx)];
    };
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x) {
        const float lap = at(x, y - 1) + at(x, y + 1) + at(x - 1, y) + at(x + 1, y) - 4 * at(x, y);
        u[static_cast<std::size_t>(y * nx + x)] = at(x, y) + factor * lap;
      }
    }
  }
  return u;
}

template <typename Function>
Function* function(void* library, const char* name) {
  void* const found = ::dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "%s: not exported\n", name);
    std::_Exit(9);
  }
  return reinterpret_cast<Function*>(found);
}

// In the child: runs the library under each schedule, and writes what is left to say to `result`.
[[noreturn]] void run(const Submission& compiled, int schedules, const std::string& kind,
                      std::FILE* result) {
  void* const library = ::dlopen(compiled.compiled.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    std::_Exit(9);
  }
  constexpr std::uint64_t key = 1;
  const auto reset = function<void(std::uint64_t, std::uint64_t)>(library, "diffbench_try_reset");
  const auto findings = function<const char*()>(library, "diffbench_try_findings");
  const auto counts = function<const char*()>(library, "diffbench_try_counts");
  const auto form = function<const char*()>(library, "diffbench_try_form");
  const auto create = function<decltype(diffbench_create_f32)>(library, "diffbench_create_f32");
  const auto upload = function<decltype(diffbench_upload_f32)>(library, "diffbench_upload_f32");
  const auto advance = function<decltype(diffbench_advance_f32)>(library, "diffbench_advance_f32");
  const auto wait = function<decltype(diffbench_wait_f32)>(library, "diffbench_wait_f32");
  const auto download =
      function<decltype(diffbench_download_f32)>(library, "diffbench_download_f32");
  const auto destroy = function<decltype(diffbench_destroy_f32)>(library, "diffbench_destroy_f32");
  bool right = true;
  std::string found = "[]";
  const std::string wanted = "{\"kind\": \"" + kind;
  for (int seed = 1; seed <= schedules && found.find(wanted) == std::string::npos; ++seed) {
    reset(static_cast<std::uint64_t>(seed), key);
    const std::vector<float> start = field(static_cast<std::uint64_t>(seed));
    const diffbench_problem problem{nx, ny, DIFFBENCH_PERIODIC, 0, 0, factor};
    diffbench_session* const session = create(&problem);
    std::vector<float> end(start.size(), -1.0f);
    right &= session != nullptr && upload(session, start.data()) == 0 &&
             advance(session, steps) == 0 && wait(session) == 0 &&
             download(session, end.data()) == 0;
    const std::vector<float> expected = solved(start);
    right &= std::memcmp(end.data(), expected.data(), end.size() * sizeof(float)) == 0;
    destroy(session);
    found = findings();
  }
  std::fprintf(result, "\"form\": \"%s\", \"right\": %s, \"findings\": %s, \"counts\": %s", form(),
               right ? "true" : "false", found.c_str(), counts());
  std::fclose(result);
  std::_Exit(0);
}

std::string contents(int file) {
  std::string text;
  char part[4096];
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t bytes = 0; (bytes = ::read(file, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(bytes));
  }
  return text;
}

} // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 3) {
    std::fprintf(stderr, "usage: diffbench_run_cuda FILE SCHEDULES [KIND]\n");
    return 2;
  }
  try {
    const diffbench::bench::TemporaryDirectory folder;
    const Submission compiled =
        diffbench::bench::compile_emulated_cuda(arguments[1], std::nullopt, folder.path());
    const int result = ::memfd_create("result", 0);
    const int early = ::memfd_create("findings", 0); // of a child that dies
    ::setenv("DIFFBENCH_TRY_FINDINGS_FD", std::to_string(early).c_str(), 1);
    const pid_t child = ::fork();
    if (child == 0) {
      run(compiled, std::atoi(arguments[2]), argument_count > 3 ? arguments[3] : "",
          ::fdopen(::dup(result), "w"));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    std::string said = contents(result);
    if (said.empty()) {
      std::string found = contents(early);
      for (std::size_t at = 0; (at = found.find("}\n{")) != std::string::npos;) {
        found.replace(at, 3, "}, {");
      }
      said = "\"form\": \"" + std::string(to_string(compiled.form)) +
             "\", \"right\": false, \"findings\": [" + found + "], \"counts\": {}";
    }
    std::printf("{\"ended\": %d, %s}\n",
                WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), said.c_str());
    return 0;
  } catch (const diffbench::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
