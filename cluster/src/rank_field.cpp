// SPDX-License-Identifier: Apache-2.0
#include "rank_field.hpp"

#include "diffbench/errors.hpp"
#include "diffbench/registry.hpp"
#include "diffbench/row_memory.hpp"
#include "diffbench/stopwatch.hpp"
#include "diffbench/with_dtype.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace diffbench::cluster {

namespace {

constexpr std::int64_t piece_bytes = std::int64_t{8} << 20;

/// What stands before the rows of a message, so that one that was lost, swapped or sent by a rank
/// that is elsewhere does not pass for another one.
struct alignas(array_alignment) Header {
  std::int64_t step = 0; ///< of the field that the rows are of
  std::int64_t rows = 0;
  std::int32_t sender = 0;
  double busy_seconds = 0; ///< of the sender, since the exchange before
};

/// The messages to and from one neighbour, in memory that the session gives; none without one.
template <typename T>
struct Mailbox {
  Mailbox(Session<T>& session, RowMemoryKind kind, std::int64_t halo, std::int64_t nx) {
    if (halo > 0) {
      out = session.row_memory(header_cells + halo * nx, kind);
      in = session.row_memory(header_cells + halo * nx, kind);
    }
  }

  static_assert(sizeof(Header) <= RowMemory<T>::label_bytes);
  static constexpr std::int64_t header_cells =
      static_cast<std::int64_t>(sizeof(Header) / sizeof(T));

  [[nodiscard]] static std::span<T> rows(const RowMemory<T>& message, std::int64_t cells) {
    return message.cells().subspan(header_cells, static_cast<std::size_t>(cells));
  }
  [[nodiscard]] static std::span<std::byte> bytes(const RowMemory<T>& message, std::int64_t cells) {
    return std::as_writable_bytes(
        message.cells().first(static_cast<std::size_t>(header_cells + cells)));
  }

  std::unique_ptr<RowMemory<T>> out;
  std::unique_ptr<RowMemory<T>> in;
};

template <typename T>
class RankFieldOf final : public RankField {
 public:
  RankFieldOf(Transport& transport, const RankJob& job, const BackendInfo& backend)
      : transport_(transport),
        problem_(job.problem),
        part_(part_of_rank(problem_, transport.size(), transport.rank(), job.depth)),
        on_device_(backend.device != DeviceKind::cpu),
        messages_(on_device_ && job.gpu_aware ? RowMemoryKind::device : RowMemoryKind::host),
        session_(backend.make<T>()(part_.local, job.options)),
        upper_(*session_, messages_, part_.upper_halo, problem_.nx),
        lower_(*session_, messages_, part_.lower_halo, problem_.nx) {
    set_depth(job.depth);
  }

  [[nodiscard]] const RankPart& part() const override { return part_; }
  [[nodiscard]] std::int64_t row_bytes() const override {
    return problem_.nx * static_cast<std::int64_t>(sizeof(T));
  }
  [[nodiscard]] std::int64_t depth() const override { return depth_; }

  void set_depth(std::int64_t depth) override {
    depth_ = depth;
    const std::int64_t cells = depth * problem_.nx;
    HaloMessages messages;
    messages.upper = part_.upper;
    messages.lower = part_.lower;
    if (part_.upper >= 0) {
      messages.to_upper = Mailbox<T>::bytes(*upper_.out, cells);
      messages.from_upper = Mailbox<T>::bytes(*upper_.in, cells);
    }
    if (part_.lower >= 0) {
      messages.to_lower = Mailbox<T>::bytes(*lower_.out, cells);
      messages.from_lower = Mailbox<T>::bytes(*lower_.in, cells);
    }
    exchange_ =
        part_.upper >= 0 || part_.lower >= 0 ? transport_.make_halo_exchange(messages) : nullptr;
  }

  void upload(std::int64_t first, std::span<const std::byte> rows) override {
    session_->upload_rows(local_row(first),
                          {reinterpret_cast<const T*>(rows.data()), rows.size() / sizeof(T)});
  }
  void download(std::int64_t first, std::span<std::byte> rows) override {
    session_->download_rows(local_row(first),
                            {reinterpret_cast<T*>(rows.data()), rows.size() / sizeof(T)});
  }

  void initialise(const InitialField& initial) override {
    std::vector<T> cells;
    InitialRows field(problem_, initial);
    in_pieces(part_.rows, row_bytes(), [&](const Rows& rows) {
      cells.resize(static_cast<std::size_t>(rows.count() * problem_.nx));
      field.fill(rows.first, std::span(cells));
      session_->upload_rows(local_row(rows.first), cells);
    });
    step_ = 0;
  }

  [[nodiscard]] FieldDigest digest() override {
    FieldDigest sum;
    std::vector<T> cells;
    in_pieces(part_.rows, row_bytes(), [&](const Rows& rows) {
      cells.resize(static_cast<std::size_t>(rows.count() * problem_.nx));
      session_->download_rows(local_row(rows.first), cells);
      sum += digest_of<T>(rows.first * problem_.nx, cells);
    });
    return sum;
  }

  void advance(std::int64_t steps) override {
    double accounted = busy_seconds();
    for (std::int64_t left = steps; left > 0;) {
      const std::int64_t count = exchange_ ? std::min(left, depth_) : left;
      if (exchange_) {
        const double before = std::exchange(accounted, busy_seconds());
        times_.pace += exchange_halos(accounted - before);
      }
      const ScopedTimer timer(times_.compute);
      session_->advance(count);
      session_->wait();
      step_ += count;
      left -= count;
    }
    times_.pace += busy_seconds() - accounted;
  }

  [[nodiscard]] RankTimes take_times() override { return std::exchange(times_, {}); }
  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = session_->provenance();
    if (on_device_ && exchange_) {
      provenance.details.emplace_back("halo_messages", messages_ == RowMemoryKind::device
                                                           ? "device memory"
                                                           : "staged, page-locked");
    }
    return provenance;
  }

 private:
  [[nodiscard]] std::int64_t local_row(std::int64_t row) const {
    return row - part_.rows.first + part_.upper_halo;
  }

  [[nodiscard]] double busy_seconds() const { return times_.compute + times_.copy; }

  /// Says how long it was busy; the longest that it or a neighbour was.
  double exchange_halos(double busy) {
    const std::int64_t first_own = part_.upper_halo;
    const std::int64_t end_own = first_own + part_.rows.count();
    const std::int64_t cells = depth_ * problem_.nx;
    {
      const ScopedTimer timer(times_.copy);
      if (part_.upper >= 0) {
        put(*upper_.out, first_own, cells, busy);
      }
      if (part_.lower >= 0) {
        put(*lower_.out, end_own - depth_, cells, busy);
      }
    }
    {
      const ScopedTimer timer(times_.wait);
      try {
        exchange_->run();
      } catch (const Ended&) {
        throw;
      } catch (const Error& error) {
        throw Error(here() + error.what());
      }
    }
    const ScopedTimer timer(times_.copy);
    double longest = busy;
    if (part_.upper >= 0) {
      longest = std::max(longest, take(*upper_.in, part_.upper, first_own - depth_, cells));
    }
    if (part_.lower >= 0) {
      longest = std::max(longest, take(*lower_.in, part_.lower, end_own, cells));
    }
    return longest;
  }

  void put(RowMemory<T>& message, std::int64_t local, std::int64_t cells, double busy) {
    const Header header{
        .step = step_, .rows = depth_, .sender = transport_.rank(), .busy_seconds = busy};
    message.write_label(std::as_bytes(std::span(&header, 1)));
    session_->download_rows(local, Mailbox<T>::rows(message, cells));
  }

  /// How long the sender was busy.
  double take(RowMemory<T>& message, int sender, std::int64_t local, std::int64_t cells) {
    Header header;
    message.read_label(std::as_writable_bytes(std::span(&header, 1)));
    if (header.step != step_ || header.rows != depth_ || header.sender != sender) {
      throw Error(here() + "a message of step " + std::to_string(header.step) + " with " +
                  std::to_string(header.rows) + " rows from rank " + std::to_string(header.sender) +
                  ", where rank " + std::to_string(sender) + " should have sent " +
                  std::to_string(depth_) + " rows");
    }
    session_->upload_rows(local, Mailbox<T>::rows(message, cells));
    return header.busy_seconds;
  }

  [[nodiscard]] std::string here() const {
    return "step " + std::to_string(step_) + ", exchange of halos: ";
  }

  Transport& transport_;
  Problem problem_;
  RankPart part_;
  bool on_device_;
  RowMemoryKind messages_;
  std::unique_ptr<Session<T>> session_;
  Mailbox<T> upper_;
  Mailbox<T> lower_;
  std::unique_ptr<HaloExchange> exchange_; ///< null for a rank without neighbours
  std::int64_t depth_ = 1;
  std::int64_t step_ = 0; ///< since the field was initialised; the same on all ranks
  RankTimes times_;
};

/// The GPU of a rank: those of a machine in turn.
int device_of_rank(const BackendInfo& backend, int first, const Place& place) {
  if (backend.device == DeviceKind::cpu) {
    return first;
  }
  int devices = 0;
  while (devices <= place.rank && backend.probe(first + devices).available) {
    ++devices;
  }
  return devices > 0 ? first + place.rank % devices : first;
}

} // namespace

void require_device_messages(const Transport& transport) {
  if (!transport.takes_device_memory()) {
    throw Unavailable("--gpu-aware on: " + transport.description() +
                      " takes no messages from the memory of a device; use --gpu-aware off, which "
                      "stages them in page-locked memory, or an MPI with CUDA support");
  }
}

std::unique_ptr<RankField> make_rank_field(Transport& transport, const RankJob& job) {
  RankJob own = job;
  const BackendInfo backend = require_backend(job.backend, job.options.device);
  if (job.gpu_aware && backend.device != DeviceKind::cpu && transport.size() > 1) {
    require_device_messages(transport);
  }
  own.options.device = device_of_rank(backend, job.options.device, transport.place());
  return with_dtype(job.problem.dtype, [&]<typename T>(T) -> std::unique_ptr<RankField> {
    return std::make_unique<RankFieldOf<T>>(transport, own, backend);
  });
}

std::int64_t rows_of_piece(std::int64_t row_bytes) {
  return std::max<std::int64_t>(1, piece_bytes / row_bytes);
}

void in_pieces(const Rows& rows, std::int64_t row_bytes,
               const std::function<void(const Rows&)>& use) {
  const std::int64_t step = rows_of_piece(row_bytes);
  for (std::int64_t first = rows.first; first < rows.last; first += step) {
    use({first, std::min(rows.last, first + step)});
  }
}

} // namespace diffbench::cluster
