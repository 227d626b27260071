// SPDX-License-Identifier: Apache-2.0
// The peers, with a real python3 and NumPy, with Numba and Halide where they are installed (torch
// is run by the acceptance tests), and with scripts that misbehave.
#include "peer.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/npy.hpp"
#include "diffbench/proof_fields.hpp"
#include "diffbench/verify.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>

#include <unistd.h>

namespace diffbench::bench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Combine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::Values;

// Sets an environment variable until the end of the scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { unsetenv(name_); }

 private:
  const char* name_;
};

class Peers : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(directory_);
    problem_.nx = 37; // odd, and not square
    problem_.ny = 20;
  }
  void TearDown() override { fs::remove_all(directory_); }

  template <typename T>
  Field<T> write_initial() {
    Field<T> field(problem_.nx, problem_.ny);
    fill_initial(problem_, parse_initial("random"), field);
    write_npy(initial_, field);
    return field;
  }

  // A peer `numpy` whose python is `body`; answers nothing unless the body does.
  Peer script_peer(const std::string& body, std::function<bool()> interrupted = {}) {
    std::ofstream(directory_ / "numpy_roll.py") << "";
    std::ofstream(directory_ / "peer_protocol.py") << body;
    const ScopedVariable scripts("DIFFBENCH_PEERS", directory_);
    return Peer("numpy", problem_, initial_, {.threads = 1}, std::move(interrupted));
  }

  // A peer `numpy` by the real protocol, whose class Peer is `module`'s, as long as the result
  // lives.
  ScopedVariable play(const std::string& module) {
    std::ofstream(directory_ / "numpy_roll.py") << module;
    const fs::path project = fs::path(__FILE__).parent_path() / "../../../..";
    fs::copy(project / "bench/peers/peer_protocol.py", directory_);
    return {"DIFFBENCH_PEERS", directory_};
  }

  std::string start_error(const std::string& body, std::function<bool()> interrupted = {}) {
    try {
      script_peer(body, std::move(interrupted));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  // One for each process: ctest runs the tests of this file side by side.
  pid_t pid_ = -1;
  fs::path directory_ =
      fs::path(::testing::TempDir()) / ("diffbench_peer_test_" + std::to_string(getpid()));
  fs::path initial_ = directory_ / "initial.npy";
  fs::path result_ = directory_ / "result.npy";
  Problem problem_;
};

// One entry of the provenance; empty without it.
std::string detail(const Peer& peer, std::string_view name) {
  for (const auto& [key, value] : peer.provenance().facts()) {
    if (key == name) {
      return value;
    }
  }
  return "";
}

class NumpyBits : public Peers,
                  public ::testing::WithParamInterface<std::tuple<std::string, Boundary, Dtype>> {
 protected:
  void SetUp() override {
    Peers::SetUp();
    std::tie(name_, problem_.boundary, problem_.dtype) = GetParam();
    problem_.boundary_value = 0.3; // no float32
    if (const Probe probe = probe_peer(name_); !probe.available) {
      GTEST_SKIP() << probe.reason;
    }
  }

  template <typename T>
  void expect_reference_bits() {
    Field<T> reference = write_initial<T>();
    Peer peer(name_, problem_, initial_, {.threads = 2});
    EXPECT_GT(peer.advance(5), 0);
    peer.reset();
    peer.advance(20);
    peer.advance(30);
    peer.save(result_);
    advance_reference(problem_, reference, 50);
    const Field<T> result = read_npy<T>(result_);
    EXPECT_TRUE(compare<T>(result.cells(), reference.cells()).bitwise);
    expect_bits_of_another_field<T>(peer);
  }

  /// As it is proved: another field of the same shape, several times from its start.
  template <typename T>
  void expect_bits_of_another_field(Peer& peer) {
    ASSERT_TRUE(peer.takes_other_fields());
    Field<T> other(problem_.nx, problem_.ny);
    fill_proof_cells(ProofCells::mixed, other);
    const fs::path path = directory_ / "other.npy";
    write_npy(path, other);
    peer.load(path);
    for (const std::int64_t steps : {1, 2}) {
      Field<T> expected(problem_.nx, problem_.ny);
      fill_proof_cells(ProofCells::mixed, expected);
      advance_reference(problem_, expected, steps);
      peer.reset();
      peer.advance(steps);
      peer.save(result_);
      const Field<T> found = read_npy<T>(result_);
      EXPECT_TRUE(compare<T>(found.cells(), std::as_const(expected).cells()).bitwise) << steps;
    }
  }

  std::string name_;
};

TEST_P(NumpyBits, AreTheReferences) {
  if (problem_.dtype == Dtype::float32) {
    expect_reference_bits<float>();
  } else {
    expect_reference_bits<double>();
  }
}

INSTANTIATE_TEST_SUITE_P(All, NumpyBits,
                         Combine(Values("numpy", "numpy_pooled", "numba", "numba_parallel",
                                        "halide"),
                                 Values(Boundary::periodic, Boundary::dirichlet, Boundary::neumann),
                                 Values(Dtype::float32, Dtype::float64)));

// The scripts of libraries that are rarely here, on stand-ins for these.
class StandInBits : public NumpyBits {
 protected:
  const fs::path here_ = fs::path(__FILE__).parent_path() / "stand_ins";
  const ScopedVariable modules_{"PYTHONPATH", here_};
  const ScopedVariable device_{"DIFFBENCH_PEER_DEVICE", "cpu"};
};

TEST_P(StandInBits, AreTheReferences) { expect_reference_bits<float>(); }

INSTANTIATE_TEST_SUITE_P(Few, StandInBits,
                         Combine(Values("cupy", "cupy_kernel", "jax"),
                                 Values(Boundary::periodic, Boundary::dirichlet, Boundary::neumann),
                                 Values(Dtype::float32)));

// Wide enough that bench/peers/halide_tiles.py divides the rows, too.
class WideBits : public NumpyBits {};

TEST_P(WideBits, AreTheReferences) {
  problem_.nx = 1100;
  expect_reference_bits<float>();
}

INSTANTIATE_TEST_SUITE_P(Halide, WideBits,
                         Combine(Values("halide"),
                                 Values(Boundary::periodic, Boundary::dirichlet, Boundary::neumann),
                                 Values(Dtype::float32)));

TEST_F(Peers, TellWhatRan) {
  write_initial<float>();
  Peer peer("numpy", problem_, initial_, {.threads = 4});
  EXPECT_GT(peer.setup_seconds(), 0);
  EXPECT_GT(peer.peak_bytes(), 5 << 20);
  EXPECT_EQ(peer.provenance().threads, 1); // NumPy's whole-array operations have one
  EXPECT_THAT(detail(peer, "numpy"), HasSubstr("."));
  EXPECT_THAT(detail(peer, "python"), HasSubstr("3."));
  EXPECT_EQ(detail(peer, "page_faults_per_step"), ""); // nothing was advanced yet
  peer.advance(1);
  EXPECT_THAT(detail(peer, "page_faults_per_step"), Not(IsEmpty()));
}

TEST_F(Peers, TakeTheThreadsTheirNameSays) {
  write_initial<float>();
  for (const auto& [name, threads] :
       {std::pair("numba", 1), {"numba_parallel", 2}, {"halide", 2}}) {
    if (probe_peer(name).available) {
      EXPECT_EQ(Peer(name, problem_, initial_, {.threads = 2}).provenance().threads, threads)
          << name;
    }
  }
}

// A field beyond the size that glibc's heap always keeps.
TEST_F(Peers, NumpyPooledPaysNoPageFaults) {
  problem_.nx = problem_.ny = 640;
  write_initial<float>();
  auto faults_per_step = [&](const std::string& name) {
    Peer peer(name, problem_, initial_, {.threads = 1});
    peer.advance(20);
    return std::stod(detail(peer, "page_faults_per_step"));
  };
  const double pooled = faults_per_step("numpy_pooled");
  EXPECT_LT(pooled, 1);
  EXPECT_GT(faults_per_step("numpy"), pooled);
}

TEST_F(Peers, SayWhichSettingsOfTheAllocatorTheyInherit) {
  write_initial<float>();
  {
    const ScopedVariable setting("MALLOC_ARENA_MAX", "1");
    EXPECT_EQ(detail(Peer("numpy", problem_, initial_, {.threads = 1}), "allocator"),
              "MALLOC_ARENA_MAX=1");
  }
  EXPECT_THAT(detail(Peer("numpy_pooled", problem_, initial_, {.threads = 1}), "allocator"),
              AllOf(HasSubstr("MALLOC_MMAP_MAX_"), HasSubstr("MALLOC_TRIM_THRESHOLD_")));
}

TEST_F(Peers, AreKnownByName) {
  EXPECT_THAT(peer_names(), IsSupersetOf({"numpy", "torch_cuda"}));
  EXPECT_THAT(peer_names(PeerTask::training), ElementsAre("torch", "torch_cuda"));
  EXPECT_THAT(peer_names(PeerTask::answering), ElementsAre("torch", "torch_cuda"));
  EXPECT_THROW((void)probe_peer("numpi"), InvalidInput);
  EXPECT_THROW((void)probe_peer("numpy", PeerTask::training), InvalidInput);
  EXPECT_TRUE(probe_peer("numpy").available) << probe_peer("numpy").reason;
}

TEST_F(Peers, SayHowToGetWhatIsMissing) {
  const ScopedVariable python("DIFFBENCH_PYTHON", "/bin/false");
  const Probe probe = probe_peer("torch");
  EXPECT_FALSE(probe.available);
  EXPECT_THAT(probe.reason, AllOf(HasSubstr("/bin/false"), HasSubstr("python3-torch")));
  EXPECT_THROW(Peer("torch", problem_, initial_, {.threads = 1}), Unavailable);
}

// A python that has every module, and whose driver has as many devices as asked for.
TEST_F(Peers, OnTheGpuNeedADevice) {
  auto with_devices = [&](const std::string& status) {
    const fs::path python = directory_ / ("python" + status); // each is asked once
    std::ofstream(python) << "#!/bin/sh\ncase $2 in *libcuda*) exit " << status
                          << ";; esac\nshift 2\necho \"$@\"\n";
    fs::permissions(python, fs::perms::owner_all);
    return ScopedVariable("DIFFBENCH_PYTHON", python);
  };
  {
    const ScopedVariable without = with_devices("1");
    EXPECT_THAT(probe_peer("torch_cuda").reason, HasSubstr("nvidia-smi"));
    EXPECT_TRUE(probe_peer("torch").available);
    const ScopedVariable other("DIFFBENCH_PEER_DEVICE", "cpu");
    EXPECT_TRUE(probe_peer("torch_cuda").available);
  }
  const ScopedVariable with = with_devices("0");
  EXPECT_TRUE(probe_peer("torch_cuda").available);
}

TEST_F(Peers, NeedTheirScripts) {
  const ScopedVariable scripts("DIFFBENCH_PEERS", directory_ / "nowhere");
  EXPECT_THAT(probe_peer("numpy").reason, HasSubstr("DIFFBENCH_PEERS"));
}

TEST_F(Peers, ReportTheErrorOfTheChild) {
  problem_.dtype = Dtype::float32;
  try {
    const Peer peer("numpy", problem_, directory_ / "absent.npy", {.threads = 1});
    FAIL() << "a missing initial field was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("peer numpy: FileNotFoundError"),
                                    HasSubstr("absent.npy"), Not(HasSubstr("\n"))));
  }
}

TEST_F(Peers, ReportTheLastWordsOfADeadChild) {
  EXPECT_THAT(start_error("import sys; sys.exit('first\\nsecond')"),
              AllOf(HasSubstr("status 1"), HasSubstr("first | second")));
  EXPECT_THAT(start_error("import os; os.kill(os.getpid(), 9)"), HasSubstr("status 137"));
}

TEST_F(Peers, RefuseAnAnswerThatIsNone) {
  EXPECT_THAT(start_error("input(); print('hello', flush=True); input()"), HasSubstr("hello"));
}

TEST_F(Peers, CanBeInterruptedWhileTheChildWorks) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(start_error("import time; time.sleep(1000)", [] { return true; }),
              HasSubstr("interrupted"));
  // Generous: only the thousand seconds must not be waited for.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(Peers, IgnoreWhatLibrariesPrint) {
  write_initial<float>();
  const ScopedVariable scripts = play(
      "print('noise')\n"
      "class Peer:\n"
      "  threads, versions = 3, {'toy': '1'}\n"
      "  def __init__(self, start): print('noise')\n"
      "  def advance(self, steps): print('noise')\n"
      "  reset = lambda self: None\n");
  Peer peer("numpy", problem_, initial_, {.threads = 1});
  EXPECT_GT(peer.advance(1), 0);
  EXPECT_EQ(peer.provenance().threads, 3);
}

TEST_F(Peers, SeeOnlyTheChosenDevice) {
  write_initial<float>();
  const ScopedVariable scripts = play(
      "import os\n"
      "class Peer:\n"
      "  threads = 1\n"
      "  versions = {'visible': os.environ.get('CUDA_VISIBLE_DEVICES', 'all')}\n"
      "  def __init__(self, start): pass\n"
      "  def advance(self, steps): pass\n"
      "  reset = lambda self: None\n");
  auto visible = [&](int device) {
    return detail(Peer("numpy", problem_, initial_, {.threads = 1, .device = device}), "visible");
  };
  {
    const ScopedVariable none("CUDA_VISIBLE_DEVICES", "");
    EXPECT_EQ(visible(0), "");
    EXPECT_EQ(visible(2), "2");
  }
  const ScopedVariable two("CUDA_VISIBLE_DEVICES", "5,7");
  EXPECT_EQ(visible(0), "5");
  EXPECT_EQ(visible(1), "7");
  EXPECT_THROW(visible(2), Error);
}

TEST_F(Peers, TakeAnotherJob) {
  write_initial<float>();
  Peer peer("numpy", problem_, initial_, {.threads = 1});
  peer.advance(3);
  problem_.nx = 16;
  const Field<float> other = write_initial<float>();
  peer.restart(diffusion_job(problem_, initial_));
  peer.save(result_);
  EXPECT_TRUE(compare<float>(read_npy<float>(result_).cells(), other.cells()).bitwise);
  EXPECT_THROW(peer.restart(diffusion_job(problem_, directory_ / "absent.npy")), Error);
}

TEST_F(Peers, TimeTheirAnswersOneByOne) {
  write_initial<float>();
  const ScopedVariable scripts = play(
      "import contextlib, numpy, time\n"
      "class Peer:\n"
      "  threads, versions, made = 1, {}, 0\n"
      "  answering = contextlib.nullcontext\n"
      "  def __init__(self, start): pass\n"
      "  def advance(self, steps): pass\n"
      "  reset = lambda self: None\n"
      "  def answer(self):\n"
      "    self.made += 1\n"
      "    time.sleep(0.001 * self.made)\n"
      "  field = lambda self: numpy.full((1, 1), self.made, dtype='f4')\n");
  Peer peer("numpy", problem_, initial_, {.threads = 1});
  const auto made = [&] {
    peer.save(result_);
    return read_npy<float>(result_).cells().front();
  };
  const PeerAnswers five = peer.answer({.warm_calls = 3, .count = 5, .most_seconds = 1e9});
  EXPECT_EQ(made(), 3 + 5);
  ASSERT_EQ(five.seconds.size(), 5U);
  for (std::size_t i = 0; i < five.seconds.size(); ++i) {
    EXPECT_GE(five.seconds[i], 0.001 * static_cast<double>(4 + i)); // the warm ones are not counted
  }
  EXPECT_GT(five.clock_cost, 0);
  EXPECT_EQ(peer.answer({.count = 5, .most_seconds = 0}).seconds.size(), 1U);
  EXPECT_EQ(made(), 9);
  (void)peer.answer({.warm_seconds = 0.015, .count = 1});
  EXPECT_GE(made(), 9 + 1 + 1); // how many warm up is for the clock to say
}

TEST_F(Peers, EndWithTheirOwner) {
  write_initial<float>();
  {
    // The child tells its process id as its thread count.
    Peer peer = script_peer(
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "  print(json.dumps({'threads': os.getpid(), 'device': '', 'details': []}), flush=True)\n");
    ASSERT_EQ(kill(peer.provenance().threads, 0), 0);
    EXPECT_NE(getpgid(peer.provenance().threads), getpgid(0)); // Ctrl-C does not reach it
    pid_ = peer.provenance().threads;
  }
  EXPECT_NE(kill(pid_, 0), 0);
}

} // namespace
} // namespace diffbench::bench
