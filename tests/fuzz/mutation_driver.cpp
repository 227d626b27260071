// SPDX-License-Identifier: Apache-2.0
// Drives a libFuzzer target where there is no libFuzzer: replays the seeds, then feeds it seeds
// mutated at random. It is blind (no coverage), but always the same for the same seed.
//   PROGRAM SEED_DIRECTORY INPUTS RANDOM_SEED CRASH_FILE
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// Read by the signal handler, hence global.
std::string current_input;
const char* crash_file = nullptr;

void save_input_and_die(int signal_number) {
  const int file = ::open(crash_file, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  if (::write(file, current_input.data(), current_input.size()) >= 0) {
    constexpr char note[] = "the input is saved in the crash file named on the command line\n";
    static_cast<void>(!::write(STDERR_FILENO, note, sizeof note - 1));
  }
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

void feed(std::string input) {
  current_input = std::move(input);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current_input.data()),
                         current_input.size());
}

// In the order of their names: the directory's own order differs from machine to machine.
std::vector<std::string> read_seeds(const char* directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> seeds;
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return seeds;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, std::uint64_t random_seed)
      : seeds_(seeds), random_(random_seed) {}

  std::string next() {
    std::string input = any_seed();
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) {
      mutate(input);
    }
    return input;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  const std::string& any_seed() { return seeds_[below(seeds_.size())]; }

  void mutate(std::string& input) {
    constexpr std::string_view telling = "'\"(){}[]:,-0123456789 \n\\L";
    const std::size_t at = below(input.size() + 1);
    const std::size_t length = below(input.size() - at + 1);
    switch (below(6)) {
      case 0: input.insert(at, 1, static_cast<char>(below(256))); break;
      case 1: input.insert(at, 1, telling[below(telling.size())]); break;
      case 2: input.erase(at, length); break;
      case 3: input.insert(at, input.substr(at, std::min<std::size_t>(length, 64))); break;
      case 4: splice(input, at); break;
      default:
        if (at < input.size()) {
          input[at] = static_cast<char>(below(256));
        }
        break;
    }
  }

  // The head of this input and the tail of a seed.
  void splice(std::string& input, std::size_t at) {
    const std::string& other = any_seed();
    input.replace(at, input.npos, other, std::min(at, other.size()), other.npos);
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_;
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s SEED_DIRECTORY INPUTS RANDOM_SEED CRASH_FILE\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> seeds = read_seeds(argv[1]);
  const std::uint64_t inputs = std::strtoull(argv[2], nullptr, 10);
  if (seeds.empty() || inputs == 0) { // a run that tries nothing is no success
    std::fprintf(stderr, "no seeds in '%s', or no inputs asked for\n", argv[1]);
    return 2;
  }
  crash_file = argv[4];
  for (const int signal_number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    ::signal(signal_number, save_input_and_die);
  }
  for (const std::string& seed : seeds) {
    feed(seed);
  }
  Mutator mutator(seeds, std::strtoull(argv[3], nullptr, 10));
  for (std::uint64_t i = 0; i < inputs; ++i) {
    feed(mutator.next());
  }
  std::printf("%zu seeds and %llu mutated inputs\n", seeds.size(),
              static_cast<unsigned long long>(inputs));
  return 0;
}
