// SPDX-License-Identifier: Apache-2.0
// The process in which a submission runs. It knows no field that a submission was not given, no
// expected result and no clock: these are the parent's.
//
//   diffbench_try_child MEMORY CPU_SECONDS FILE_BYTES ALONE SHARED_FD NOTICED_FD THREADS WHAT
//
// where WHAT is run FILE.so, exec COMMAND..., or program FILE.so SECONDS AGAIN NAME ARGUMENTS...
//
// Before that, the compiler of a submission: what it may read are COUNT files and folders.
//
//   diffbench_try_child compile WORK_DIR COUNT PATH... COMMAND...
//
// ALONE is 1 where it sees no process of others, else 0. THREADS are those of its teams; 0: as the
// environment says.
// stdin is a socket: a line comes in, a line goes back. The fields are in the shared memory
// SHARED_FD, between guard zones, where the parent put them. An emulated device writes what it
// notices to NOTICED_FD as well: a process that ends cannot be asked.
#include "compiler_confinement.hpp"
#include "confinement.hpp"
#include "diffbench/random_bits.hpp"
#include "served_session.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace diffbench::tried {

namespace {

/// Lines to and from the parent; what the submission prints goes elsewhere.
class Channel {
 public:
  /// stdout becomes stderr, and stdin is empty from now on.
  Channel() : fd_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    close(nothing);
  }
  [[nodiscard]] bool read(std::string& line) {
    line.clear();
    for (char next = 0; ::read(fd_, &next, 1) == 1;) {
      if (next == '\n') {
        return true;
      }
      line.push_back(next);
    }
    return false;
  }
  void write(std::string text) const {
    std::ranges::replace(text, '\n', ' ');
    text.push_back('\n');
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t sent = ::write(fd_, text.data() + done, text.size() - done);
      if (sent <= 0) {
        _exit(1); // the parent is gone
      }
      done += static_cast<std::size_t>(sent);
    }
  }

 private:
  int fd_;
};

std::byte* map_shared(int fd) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) {
    throw std::runtime_error("no shared memory");
  }
  void* address = mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ | PROT_WRITE,
                       MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    throw std::runtime_error(std::string("cannot map the fields: ") + std::strerror(errno));
  }
  return static_cast<std::byte*>(address);
}

/// JSON text that the device gives.
std::string told(void* device, const char* name) {
  const auto function =
      device == nullptr ? nullptr : reinterpret_cast<const char* (*)()>(dlsym(device, name));
  const char* text = function == nullptr ? nullptr : function();
  return text == nullptr ? "null" : text;
}

template <typename... Arguments>
void call_if_there(void* device, const char* name, Arguments... arguments) {
  if (device == nullptr) {
    return;
  }
  if (const auto function = reinterpret_cast<void (*)(Arguments...)>(dlsym(device, name))) {
    function(arguments...);
  }
}

/// The emulated device that the submission was linked with; null: none. What it has noticed is
/// asked of it, since the submission may have functions of the same names.
void* emulated_device(const std::string& file) {
  const std::string beside = file.substr(0, file.rfind('/') + 1) + "libdiffbench_emulated_cuda.so";
  return dlopen(beside.c_str(), RTLD_NOW | RTLD_NOLOAD);
}

class Server {
 public:
  Server(void* library, void* device, std::byte* shared)
      : library_(library), device_(device), shared_(shared) {
    reset_device(1); // with the key, before anything of the file is called
  }

  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "open") {
      session_.reset();
      Opening opening;
      words >> opening.form >> opening.dtype >> opening.nx >> opening.ny >> opening.boundary >>
          opening.boundary_value >> opening.factor >> opening.in >> opening.out >> opening.even >>
          opening.odd;
      session_ = serve(library_, shared_, opening);
    } else if (verb == "run" && session_) {
      std::int64_t steps = 0;
      words >> steps;
      session_->run(steps);
    } else if (verb == "close") {
      session_.reset();
    } else if (verb == "boundaries") {
      const auto known =
          reinterpret_cast<std::int32_t (*)()>(dlsym(library_, "diffbench_boundaries"));
      return verb + " " + std::to_string(known == nullptr ? 1 : known());
    } else if (verb == "schedule") {
      std::uint64_t seed = 0;
      words >> seed;
      reset_device(seed);
    } else if (verb == "launches") {
      call_if_there(device_, "diffbench_try_only_launches");
    } else if (verb == "traffic") {
      call_if_there(device_, "diffbench_try_count_traffic");
    } else if (verb == "findings" || verb == "counts") {
      return verb + " " + told(device_, ("diffbench_try_" + verb).c_str());
    } else {
      return "error this is no request: " + line;
    }
    return "done";
  }

 private:
  void reset_device(std::uint64_t seed) const {
    call_if_there(device_, "diffbench_try_reset", seed, key_);
  }

  void* library_;
  void* device_;
  const std::uint64_t key_ = random_bits();
  std::byte* shared_;
  std::unique_ptr<ServedSession> session_;
};

int serve_library(Channel& channel, const char* file, int shared_fd) {
  // Its functions before those of the C library: glibc has a step, too.
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) {
    channel.write(std::string("error ") + dlerror());
    return 1;
  }
  Server server(library, emulated_device(file), map_shared(shared_fd));
  channel.write("ready");
  for (std::string line; channel.read(line);) {
    try {
      channel.write(server.answer(line));
    } catch (const std::exception& failure) {
      channel.write(std::string("error ") + failure.what());
    }
  }
  return 0;
}

/// A whole program, which may take so many seconds; ends with it. Its files of results are made in
/// memory (program_files.cpp).
[[noreturn]] void run_program(const std::string& file, double seconds, const std::string& mode,
                              int argc, char** argv) {
  // Before the program, whose variables still give back what they hold when it has ended.
  const std::string beside = file.substr(0, file.rfind('/') + 1) + "libdiffbench_emulated_cuda.so";
  static void* device = nullptr;
  device = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  call_if_there(device, "diffbench_try_program", seconds, mode == "again" || mode == "backwards",
                mode == "backwards");
  if (mode == "counted") {
    call_if_there(device, "diffbench_try_count_traffic");
  }
  std::atexit([] { call_if_there(device, "diffbench_try_program_ended", true); });
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Main = int (*)(int, char**, char**);
  const auto main = library == nullptr ? nullptr : reinterpret_cast<Main>(dlsym(library, "main"));
  if (main == nullptr) {
    std::cerr << dlerror() << '\n';
    _exit(127);
  }
  std::exit(main(argc, argv, environ));
}

template <typename Number>
Number number_of(const std::string& argument) {
  Number number{};
  const char* const end = argument.data() + argument.size();
  if (std::from_chars(argument.data(), end, number).ptr != end) {
    throw std::runtime_error("this is no number: " + argument);
  }
  return number;
}

/// So many, also where there are fewer CPUs; who waits gives its CPU away.
void choose_threads(const char* threads) {
  for (const char* variable : {"OMP_THREAD_LIMIT", "OMP_PROC_BIND", "OMP_PLACES"}) {
    unsetenv(variable);
  }
  setenv("OMP_NUM_THREADS", threads, 1);
  setenv("NUMBA_NUM_THREADS", threads, 1);
  setenv("OMP_DYNAMIC", "false", 1);
  setenv("OMP_WAIT_POLICY", "passive", 1);
}

int compile(std::span<char*> words) {
  const auto count = number_of<std::size_t>(words[1]);
  char** const command = words.data() + 2 + count;
  confine_compiler(words[0], words.subspan(2, count));
  execvp(command[0], command);
  std::cerr << "cannot start " << command[0] << ": " << std::strerror(errno) << '\n';
  return 127;
}

/// What is not protected is the first thing that the parent hears, from whom it is.
std::string lacking_line(const Limits& limits) {
  std::string lacking;
  for (const std::string& each : confine(limits)) {
    lacking += (lacking.empty() ? "" : "; ") + each;
  }
  return "lacking " + lacking;
}

int run(const std::vector<std::string>& arguments, char** command) {
  if (arguments.size() < 9) {
    return 2;
  }
  const int shared_fd = number_of<int>(arguments[4]);
  const int noticed_fd = number_of<int>(arguments[5]);
  const auto [first, second] = std::minmax(shared_fd, noticed_fd);
  close_range(3, static_cast<unsigned>(first) - 1, 0);
  close_range(static_cast<unsigned>(first) + 1, static_cast<unsigned>(second) - 1, 0);
  close_range(static_cast<unsigned>(second) + 1, ~0U, 0);
  setenv("DIFFBENCH_TRY_FINDINGS_FD", arguments[5].c_str(), 1);
  if (arguments[6] != "0") {
    choose_threads(arguments[6].c_str());
  }
  const Limits limits{.memory_bytes = number_of<std::uint64_t>(arguments[0]),
                      .cpu_seconds = number_of<std::uint64_t>(arguments[1]),
                      .file_bytes = number_of<std::uint64_t>(arguments[2]),
                      .alone = arguments[3] == "1"};
  if (arguments[7] == "exec") {
    const auto says = [](const std::string& line) {
      return ::write(STDIN_FILENO, (line + "\n").data(), line.size() + 1) >= 0;
    };
    if (!says(lacking_line(limits))) {
      return 1;
    }
    execvp(command[0], command);
    return says(std::string("error cannot start ") + command[0] + ": " + std::strerror(errno)) ? 127
                                                                                               : 1;
  }
  if (arguments[7] == "program" && arguments.size() > 11) {
    const std::string lacking = lacking_line(limits) + "\n";
    if (::write(noticed_fd, lacking.data(), lacking.size()) < 0) {
      return 1;
    }
    run_program(arguments[8], number_of<double>(arguments[9]), arguments[10],
                static_cast<int>(arguments.size()) - 11, command + 3);
  }
  Channel channel;
  channel.write(lacking_line(limits));
  return serve_library(channel, arguments[8].c_str(), shared_fd);
}

} // namespace

} // namespace diffbench::tried

int main(int argc, char** argv) {
  try {
    if (argc > 4 && std::strcmp(argv[1], "compile") == 0) {
      return diffbench::tried::compile({argv + 2, argv + argc});
    }
    return diffbench::tried::run({argv + 1, argv + argc}, argv + (argc > 9 ? 9 : argc));
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
