// What a comparison is asked for: plain data, whoever asks.
#pragma once

#include "diffbench/backend.hpp"
#include "diffbench/cluster/ranks.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/picture.hpp"
#include "diffbench/problem.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace diffbench::bench {

enum class SnapshotFormat { npy, png };

/// Pictures and files of the field itself, made by a run of their own after the timing.
struct RecordOptions {
  std::string save; ///< .npy of the final field; empty: none
  std::string png;
  std::optional<ColourRange> range;
  std::int64_t snapshot_every = 0; ///< 0: no snapshots
  std::string snapshot_dir;
  SnapshotFormat snapshot_format = SnapshotFormat::npy;
  bool async = false; ///< snapshots travel while the device computes

  [[nodiscard]] bool wanted() const { return !save.empty() || !png.empty() || snapshot_every > 0; }
};

/// Runs on many ranks, and runs that last.
struct RankOptions {
  cluster::Ranks* ranks = nullptr; ///< null: this process alone
  std::int64_t halo_depth = 0;     ///< 0: chosen by trying
  bool gpu_aware = false;          ///< messages of GPU rows in the device's memory
  double time_limit = 120;         ///< of a message, in seconds; 0: none

  // One backend alone, see app/long_run.hpp.
  bool distributed = false; ///< rank 0 needs no memory for the whole field
  std::string checkpoint;   ///< file, or empty
  std::int64_t checkpoint_every = 0;
  std::string restart;                    ///< file, or empty
  std::vector<std::string> given_problem; ///< the options of the problem that were given

  [[nodiscard]] bool long_run() const {
    return distributed || !checkpoint.empty() || !restart.empty();
  }
};

/// Name of the output that stands for stdout.
inline constexpr const char* stdout_name = "-";

/// What `diffbench [options]` is to compare, as the command line gives it: everything that can be
/// known without looking at the machine is valid.
struct Options {
  Problem problem;
  InitialField initial;
  std::int64_t iterations = 1000;
  std::vector<std::string> backends; ///< empty: all that are available, but for those of teaching
  bool all_backends = false;         ///< those of teaching, too
  std::vector<std::string> peers;
  std::string baseline = "xtensor_roll";
  SessionOptions session;
  double budget_seconds = 10;
  bool budget_binds = false; ///< it is all that the user waits, see TimeTable
  double precision = 0;      ///< half the interval of a row's median over the median at which its
                             ///< samples suffice; 0: the usual number of samples
  std::int64_t sample_steps = 0;    ///< of each sample; 0: as many as the budget affords
  bool copy_roof = true;            ///< measure the machine's copy bandwidth, too
  bool device_chosen = false;       ///< session.device was asked for
  std::int64_t roundtrip_every = 0; ///< steps between two round trips of a GPU row; 0: no such rows
  std::vector<std::string> gpu_options; ///< given ones that mean nothing without a GPU
  bool progress = true;
  bool bars = false; ///< where stdout is a terminal
  std::string json;  ///< file, stdout_name, or empty
  std::string csv;
  std::string markdown;
  std::string report;     ///< file, or empty: the page of pictures
  std::string trace;      ///< file, or empty
  bool telemetry = false; ///< energy, clocks, utilization of each row
  RecordOptions record;
  RankOptions many;
  std::string command; ///< the whole command line, for the result file
};

} // namespace diffbench::bench
