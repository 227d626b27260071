// SPDX-License-Identifier: Apache-2.0
// What a comparison found. Plain data: it says nothing of how the numbers were measured, and every
// report (table, JSON, CSV, verdict) is made from it alone.
#pragma once

#include "context.hpp"
#include "diffbench/backend.hpp"
#include "diffbench/initial.hpp"
#include "diffbench/problem.hpp"
#include "diffbench/proof_fields.hpp"
#include "diffbench/verify.hpp"
#include "row_moments.hpp"
#include "row_telemetry.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace diffbench::bench {

/// How long each engine of a device worked in a run, by the device's own clock. Engines work side
/// by side and beside the host, so these are no part of the sum of the phases.
struct BusyTimes {
  double h2d = 0;
  double compute = 0;
  double d2h = 0;
};

/// Where the wall time of one run went, in seconds. Phases are exclusive: those that are set and
/// `unexplained` add up to `wall`. Empty: the phase does not exist for this backend, or was not
/// part of the run.
struct Phases {
  std::optional<double> context; ///< device context and lazily loaded modules
  std::optional<double> alloc;   ///< memory, threads: making the session
  std::optional<double> pin;     ///< page-locking host memory
  std::optional<double> h2d;     ///< field to the device (for a CPU: into the session)
  std::optional<double> launch;  ///< host time spent issuing work
  std::optional<double> compute; ///< time steps
  std::optional<double> sync;    ///< waiting after the work was done
  std::optional<double> d2h;     ///< field back to the caller
  std::optional<double> free;    ///< giving memory back
  double unexplained = 0;
  double wall = 0;
  std::optional<BusyTimes> busy; ///< empty without a device
};

/// The phases in the order in which a run goes through them.
struct NamedPhase {
  std::string_view name;
  std::optional<double> Phases::*member;
};
inline constexpr std::array<NamedPhase, 9> named_phases{{
    {"context", &Phases::context},
    {"alloc", &Phases::alloc},
    {"pin", &Phases::pin},
    {"h2d", &Phases::h2d},
    {"launch", &Phases::launch},
    {"compute", &Phases::compute},
    {"sync", &Phases::sync},
    {"d2h", &Phases::d2h},
    {"free", &Phases::free},
}};

/// One timed stretch of `iterations` steps from the initial field.
struct Sample {
  std::int64_t iterations = 0;
  double seconds = 0;                ///< wall time of all the steps
  std::optional<double> cpu_seconds; ///< processor time of all threads; empty where not visible
  int round = 0;             ///< in which it was taken: samples of one round are neighbours in time
  double stolen_seconds = 0; ///< by which other programs may have made it longer, see StolenTime
  double worked_seconds = 0; ///< which it takes in any case
  bool on_one_thread = false; ///< so that it was longer by what was stolen
  /// The part by which they may have changed the rest (caches, memory, the clock); empty: nobody
  /// looked for them.
  std::optional<double> slack = {};
  int retaken = 0; ///< how often one of this round was put away, since more of it was stolen

  [[nodiscard]] double seconds_per_iteration() const {
    return seconds / static_cast<double>(iterations);
  }
  /// By so much others made it longer at most.
  [[nodiscard]] double longer_by() const {
    return std::min(stolen_seconds, seconds - std::min(seconds, worked_seconds));
  }
  /// Whether other programs may have changed it.
  [[nodiscard]] bool disturbed() const { return slack.value_or(0) > 0; }
  /// What the machine takes when it is idle lies between these.
  [[nodiscard]] double least_seconds_per_iteration() const {
    return disturbed() ? (seconds - longer_by()) / (1 + *slack) / static_cast<double>(iterations)
                       : seconds_per_iteration();
  }
  [[nodiscard]] double most_seconds_per_iteration() const {
    return seconds_per_iteration() * (1 + slack.value_or(0));
  }
  [[nodiscard]] double stolen_share() const { return stolen_seconds / seconds; }
};

/// When it was settled how many values there are.
enum class Stopping {
  planned,   ///< before the first of them
  sequential ///< by what they are: more are taken until they show enough
};

enum class Status { ok, skipped, failed };
[[nodiscard]] std::string_view to_string(Status status);

/// A field on which a row gave other bits than the oracle.
struct WrongField {
  std::int64_t nx = 0;
  std::int64_t ny = 0;
  Boundary boundary{};
  ProofCells cells{};
  std::int64_t steps = 0;
  Difference difference;
};

/// The fields that a row was given beside that of its run.
struct ProvedFields {
  std::int64_t count = 0;              ///< of fields and numbers of steps, each compared by itself
  std::vector<std::string> grids = {}; ///< "67x19", each once
  std::vector<Boundary> boundaries = {};
  std::int64_t most_steps = 0;
  std::optional<WrongField> wrong = {}; ///< the first, or the first beyond the tolerance
};

/// The proof beside the numbers.
struct Verification {
  bool bitwise = false;     ///< the run's field and all others have the oracle's bits
  std::int64_t steps = 0;   ///< after which the fields were compared
  double max_abs_error = 0; ///< of the run's field, over the cells that are finite in both
  std::int64_t nonfinite = 0;
  std::optional<Difference> difference = {}; ///< of the run's field, where it has other bits
  std::optional<ProvedFields> fields = {};   ///< empty: the row was not given any
  /// Of a row that is not bitwise, and not wrong either: no cell of any field is further from the
  /// oracle's, and so many units in the last place were allowed.
  std::optional<std::int64_t> within_ulps = {};

  [[nodiscard]] bool accepted() const { return bitwise || within_ulps; }
};

/// What the rows of all comparisons have in common. How a row is proved right is its own, and what
/// came of that is in its verified() and wrong(); neither holds of one that never came so far.
struct TimedRow {
  std::string name;
  DeviceKind device = DeviceKind::cpu;
  Status status = Status::ok;
  std::string reason;   ///< why not ok
  bool missing = false; ///< asked for, by name or by device, and not available
  Provenance provenance;
  std::vector<Sample> samples;

  /// An emulated device proves results; its times would say nothing.
  [[nodiscard]] bool emulated() const { return device == DeviceKind::emulated; }
  /// Ranks with more threads than CPUs take turns.
  [[nodiscard]] bool oversubscribed() const { return provenance.oversubscribed; }
  /// It is there for its proof; a time would say nothing.
  [[nodiscard]] bool without_time() const { return emulated() || oversubscribed(); }
  [[nodiscard]] bool on_device() const { return device != DeviceKind::cpu; }
  [[nodiscard]] bool failed() const { return status == Status::failed; }
  [[nodiscard]] bool timed() const { return status == Status::ok && !samples.empty(); }
  /// Median time of an iteration over the samples, of which there are some.
  [[nodiscard]] double step_seconds() const;
};

/// One row: a backend or a peer.
struct Row : TimedRow {
  std::string kernel; ///< the backend or peer, however its field is moved
  bool is_peer = false;
  std::int64_t roundtrip_every = 0; ///< steps between two trips to the host and back; 0: none
  std::int64_t snapshot_every = 0;  ///< steps between two copies to the host; 0: none
  std::optional<Transfer> transfer; ///< of a row on a device, how it was asked to copy
  bool overlapped = false;          ///< it was asked to copy while it computes
  std::optional<Verification> verification;
  std::optional<double> setup_seconds; ///< context, session and the first upload
  std::optional<Phases> cold;          ///< from nothing to the result, the first time
  std::optional<Phases> warm;          ///< upload, all steps, download, once all is in place
  std::optional<std::int64_t> peak_host_bytes;
  std::optional<std::int64_t> peak_device_bytes;
  std::optional<RowTelemetry> telemetry; ///< with --telemetry, of a row with a time
  std::optional<RowMoments> moments;     ///< with --trace

  /// Bit for bit, or as near as the user allows.
  [[nodiscard]] bool verified() const { return verification && verification->accepted(); }
  [[nodiscard]] bool wrong() const { return verification && !verification->accepted(); }
  /// Verified and timed: its numbers may be compared.
  [[nodiscard]] bool ranked() const { return verified() && timed(); }
};

/// The reference field.
struct FieldFacts {
  std::int64_t steps = 0; ///< fewer than asked for only where the reference would take too long
  std::string sha256;     ///< of the raw cells, row-major, little-endian
  Summary summary;
};

/// What denormal numbers cost on this CPU: where `share` of a field's cells are such, a step of
/// fused takes `slowdown` times as long as without.
struct DenormalCost {
  double share = 0;
  double slowdown = 1;
};

/// Copy bandwidth of the host, read and written bytes counted.
struct CopyBandwidth {
  double memcpy_bytes_per_second = 0;
  double streaming_bytes_per_second = 0; ///< non-temporal stores; 0 where there are none
  std::int64_t array_bytes = 0;
  int threads = 0;

  [[nodiscard]] double best() const {
    return streaming_bytes_per_second > memcpy_bytes_per_second ? streaming_bytes_per_second
                                                                : memcpy_bytes_per_second;
  }
};

/// How often something must be used until `setup_seconds` are paid for by `saved_seconds` a use: 0
/// where there is nothing to pay, empty where it never is.
[[nodiscard]] std::optional<std::int64_t> uses_to_pay(double setup_seconds, double saved_seconds);

/// What the way of holding host memory does to the copies of a field.
struct TransferStudy {
  struct CopySeconds {
    double h2d = 0;
    double d2h = 0;

    [[nodiscard]] double both() const { return h2d + d2h; }
  };

  std::string backend;      ///< whose copies were measured
  Transfer transfer{};      ///< the way that was asked for
  std::int64_t bytes = 0;   ///< of one copy
  double setup_seconds = 0; ///< what making the memory took longer than for pageable copies
  CopySeconds pageable;     ///< medians
  CopySeconds chosen;
  bool is_open = false; ///< the trips do not show which of the two is faster

  [[nodiscard]] double saved_per_trip() const { return pageable.both() - chosen.both(); }
  /// Trips (one copy to the device, one back) after which the setup is paid for, by uses_to_pay();
  /// empty also where that is open.
  [[nodiscard]] std::optional<std::int64_t> trips_to_pay() const;
};

/// A whole comparison.
struct ComparisonResult {
  std::string command;
  Problem problem;
  InitialField initial;
  std::int64_t iterations = 0;
  std::string baseline;
  double budget_seconds = 0;
  std::int64_t last_level_cache_bytes = 0;
  std::optional<CopyBandwidth> copy;
  std::optional<FieldFacts> field;
  std::optional<DenormalCost> denormals; ///< where the field has some
  std::vector<Row> rows;
  std::optional<TransferStudy> transfers;      ///< with a GPU row and a way other than pageable
  std::optional<TelemetrySources> telemetry;   ///< with --telemetry
  std::optional<std::int64_t> peak_host_bytes; ///< of the whole process
  std::vector<std::string> notes; ///< what a reader must know: peaks not measurable, ...
  Facts context;                  ///< the machine and the build
  bool interrupted = false;
  bool disturbed = false;                ///< by other programs; a note says what they had
  Stopping stopping = Stopping::planned; ///< of the rounds
  double least_effect = 0.02; ///< below which a difference of two rows is none (least_effect.hpp)

  [[nodiscard]] const Row* find(std::string_view name) const;
};

/// Median time of an iteration over the samples; empty without any.
[[nodiscard]] std::optional<double> seconds_per_iteration(const TimedRow& row);

/// Of the rows that `admits` the first one with the least `seconds`; nullptr without any.
template <typename Rows, typename Admits, typename Seconds>
[[nodiscard]] auto fastest(const Rows& rows, Admits admits, Seconds seconds)
    -> const std::ranges::range_value_t<Rows>* {
  const std::ranges::range_value_t<Rows>* best = nullptr;
  for (const auto& row : rows) {
    if (admits(row) &&
        (best == nullptr || std::invoke(seconds, row) < std::invoke(seconds, *best))) {
      best = &row;
    }
  }
  return best;
}
/// The fastest ranked row among those that `admits`; nullptr without any.
template <typename Admits>
[[nodiscard]] const Row* fastest(const ComparisonResult& result, Admits admits) {
  return fastest(
      result.rows, [&](const Row& row) { return row.ranked() && admits(row); }, &Row::step_seconds);
}

} // namespace diffbench::bench
