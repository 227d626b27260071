// Peers: the same problem in NumPy, Numba, PyTorch, CuPy or JAX, run by a python3 child in the same
// run, so that a row of the table can stand beside ours. bench/peers/peer_protocol.py is the other
// end.
// numpy_pooled is numpy with a C library that keeps freed memory (why: bench/peers/numpy_roll.py).
//
// The child is asked by one-line JSON requests and answers each with one line. It is in a process
// group of its own, so that Ctrl-C on the terminal reaches only the parent, which ends it in order.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/problem.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// On the CPU: numpy, numpy_pooled, numba, torch. On the GPU: torch_cuda, torch_cuda_compile,
/// torch_cuda_graph, cupy, cupy_kernel, jax.
[[nodiscard]] std::vector<std::string> peer_names();

/// Whether the peer can be started: its script is there, a python3 that has its modules, and for
/// those on the GPU a device. Takes some 50 ms, with a driver a little more; imports nothing.
/// Throws InvalidInput, listing the names, for an unknown one.
[[nodiscard]] Probe probe_peer(std::string_view name);

/// A running peer that holds one field. Every call blocks until the child has answered, and throws
/// Error, with the last lines the child wrote to stderr, when it dies, fails or hangs, and when
/// `interrupted` says so meanwhile. After that the peer is of no further use.
class Peer {
 public:
  /// Starts the child on the field in `initial_npy` and waits until it is ready to be timed
  /// (modules imported, code compiled). Of `session` counts how many threads (0: all usable CPUs)
  /// and which device. Throws Unavailable, with the command that installs what is missing.
  Peer(const std::string& name, const Problem& problem, const std::filesystem::path& initial_npy,
       const SessionOptions& session, std::function<bool()> interrupted = {});
  Peer(Peer&&) noexcept;
  Peer& operator=(Peer&&) noexcept;
  /// Ends the child: asks it to by closing its input, waits briefly, then kills it.
  ~Peer();

  /// From process start to ready.
  [[nodiscard]] double setup_seconds() const;
  /// Back to the initial field.
  void reset();
  /// Seconds on the child's own clock, round nothing but the steps. The result is complete.
  double advance(std::int64_t steps);
  /// Writes the field as it is now.
  void save(const std::filesystem::path& npy);
  /// The threads that really ran, the versions of library and python, settings of the allocator
  /// where the environment has any, and the page faults a step of the last advance().
  [[nodiscard]] Provenance provenance() const;
  /// The largest resident size of the child so far, interpreter and libraries included.
  [[nodiscard]] std::int64_t peak_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace diffbench::bench
