#include "mpi_transport.hpp"

#include "diffbench/text.hpp"

#include "byte_type.hpp"
#include "call.hpp"
#include "environment.hpp"
#include "file_part.hpp"
#include "mpi_halo_exchange.hpp"
#include "slabs.hpp"
#include "tags.hpp"
#include "watchdog.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <utility>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace diffbench::cluster {

namespace {

// In broadcast() ranks may have nothing to do for minutes.
constexpr std::chrono::microseconds idle_sleep{1000};

void start_mpi() {
  int started = 0;
  call(MPI_Initialized(&started), "MPI_Initialized");
  if (started != 0) {
    throw Error("MPI has been started in this process before; it starts once");
  }
  prepare_environment();
  int level = 0;
  call(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
  if (level < MPI_THREAD_FUNNELED) {
    throw Error("this MPI cannot be used in a program with threads (MPI_THREAD_FUNNELED)");
  }
}

MPI_Comm returning_errors(MPI_Comm communicator) {
  call(MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return communicator;
}

std::string seconds_text(double seconds) {
  std::ostringstream text;
  text << seconds << " s";
  return text.str();
}

} // namespace

MpiTransport::MpiTransport() : exceptions_(std::uncaught_exceptions()) {
  start_mpi();
  MPI_Comm world = returning_errors(MPI_COMM_WORLD);
  call(MPI_Comm_size(world, &size_), "MPI_Comm_size");
  // Ranks keep their numbers: the terminal is that of rank 0.
  const int periodic = 1;
  const int reorder = 0;
  call(MPI_Cart_create(world, 1, &size_, &periodic, reorder, &ranks_), "MPI_Cart_create");
  returning_errors(ranks_);
  call(MPI_Comm_rank(ranks_, &rank_), "MPI_Comm_rank");
  call(MPI_Comm_dup(ranks_, &farewell_), "MPI_Comm_dup");
  returning_errors(farewell_);
  place_ = find_place();
}

Place MpiTransport::find_place() const {
  Place place;
  MPI_Comm machine = MPI_COMM_NULL;
  call(MPI_Comm_split_type(ranks_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine),
       "MPI_Comm_split_type");
  call(MPI_Comm_rank(machine, &place.rank), "MPI_Comm_rank");
  call(MPI_Comm_size(machine, &place.ranks), "MPI_Comm_size");
  call(MPI_Comm_free(&machine), "MPI_Comm_free");
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  call(MPI_Get_processor_name(host.data(), &length), "MPI_Get_processor_name");
  place.host.assign(host.data(), static_cast<std::size_t>(length));
  return place;
}

MpiTransport::~MpiTransport() {
  if (requests_under_way_) {
    end_all("it left with messages under way");
  }
  if (std::uncaught_exceptions() > exceptions_ && !others_leave_too()) {
    end_all("it left after an error, and other ranks did not");
  }
  const Watchdog watchdog(rank_, "the end of MPI", gather_limit(time_limit_));
  MPI_Comm_free(&farewell_);
  MPI_Comm_free(&ranks_);
  MPI_Finalize();
}

bool MpiTransport::others_leave_too() noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(farewell_, &request) != MPI_SUCCESS) {
    return false;
  }
  return wait_until(
      [&request] {
        int done = 0;
        MPI_Status status;
        return MPI_Test(&request, &done, &status) == MPI_SUCCESS && done != 0;
      },
      {.seconds = 5});
}

std::string MpiTransport::description() const {
  // "Open MPI v4.1.4, package: Debian OpenMPI, ...", or lines such as "MPICH Version:\t4.0.2".
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  call(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  std::string_view line(text.data(), static_cast<std::size_t>(length));
  line = line.substr(0, line.find_first_of(",\n"));
  std::string name = one_line(line);
  if (const std::size_t v = name.find(" v"); v != std::string::npos) {
    name.erase(v + 1, 1);
  }
  return name;
}

bool MpiTransport::wait(std::span<MPI_Request> requests, std::span<MPI_Status> statuses,
                        const std::function<std::string()>& complaint, double limit_seconds) {
  requests_under_way_ = true; // until none is
  int code = MPI_SUCCESS;
  const auto done = [&] {
    int all = 0;
    code = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, statuses.data());
    return code != MPI_SUCCESS || all != 0;
  };
  if (!wait_until(done, {.seconds = limit_seconds})) {
    const std::string missing = complaint(); // asks MPI once more, which may have them now
    if (!done()) {
      throw TimedOut("rank " + std::to_string(rank_) + ": " + missing + " for " +
                     seconds_text(limit_seconds));
    }
  }
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) {
    call(code, "MPI_Testall");
  }
  requests_under_way_ = false;
  return code == MPI_SUCCESS;
}

void MpiTransport::wait_for_one(MPI_Request request, MPI_Status& status,
                                const std::string& complaint, double limit_seconds) {
  if (!wait(
          {&request, 1}, {&status, 1}, [&complaint] { return complaint; }, limit_seconds)) {
    throw Error("rank " + std::to_string(rank_) + ": " + mpi_error_text(status.MPI_ERROR));
  }
}

void MpiTransport::wait_idly(MPI_Request request) {
  requests_under_way_ = true;
  const bool done = wait_until(
      [&request] {
        int arrived = 0;
        MPI_Status status;
        call(MPI_Test(&request, &arrived, &status), "MPI_Test");
        return arrived != 0;
      },
      {.seconds = idle_limit_, .longest_sleep = idle_sleep});
  requests_under_way_ = !done;
  if (!done) {
    throw TimedOut("rank " + std::to_string(rank_) + ": no command from rank 0 for " +
                   seconds_text(idle_limit_));
  }
}

bool MpiTransport::takes_device_memory() const {
#ifdef MPIX_CUDA_AWARE_SUPPORT // the answer where it was compiled; here the library is asked
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

std::unique_ptr<HaloExchange> MpiTransport::make_halo_exchange(const HaloMessages& messages) {
  return std::make_unique<MpiHaloExchange>(*this, messages);
}

void MpiTransport::broadcast(std::span<std::byte> bytes) {
  in_slabs(bytes.size(), [&](std::size_t first, std::size_t size) {
    MPI_Request request = MPI_REQUEST_NULL;
    call(MPI_Ibcast(bytes.data() + first, static_cast<int>(size), MPI_BYTE, 0, ranks_, &request),
         "MPI_Ibcast");
    wait_idly(request);
  });
}

void MpiTransport::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (all.size() != mine.size() * static_cast<std::size_t>(size_)) {
    throw Error("all_gather of " + std::to_string(mine.size()) + " bytes a rank into " +
                std::to_string(all.size()));
  }
  const ByteType type(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  call(MPI_Iallgather(mine.data(), type.count(), type.type(), all.data(), type.count(), type.type(),
                      ranks_, &request),
       "MPI_Iallgather");
  wait_for_all(request);
}

void MpiTransport::wait_for_all(MPI_Request request) {
  MPI_Status status;
  wait_for_one(request, status, "other ranks have not gathered", gather_limit(time_limit_));
}

void MpiTransport::send(int to, std::span<const std::byte> bytes) {
  const std::string complaint = "its message was not taken by rank " + std::to_string(to);
  in_slabs(bytes.size(), [&](std::size_t first, std::size_t size) {
    MPI_Request request = MPI_REQUEST_NULL;
    call(MPI_Isend(bytes.data() + first, static_cast<int>(size), MPI_BYTE, to, tags::other, ranks_,
                   &request),
         "MPI_Isend");
    MPI_Status status;
    wait_for_one(request, status, complaint, time_limit_);
  });
}

void MpiTransport::receive(int from, std::span<std::byte> bytes) {
  const std::string complaint = "no message from rank " + std::to_string(from);
  in_slabs(bytes.size(), [&](std::size_t first, std::size_t size) {
    MPI_Request request = MPI_REQUEST_NULL;
    call(MPI_Irecv(bytes.data() + first, static_cast<int>(size), MPI_BYTE, from, tags::other,
                   ranks_, &request),
         "MPI_Irecv");
    MPI_Status status;
    wait_for_one(request, status, complaint, time_limit_);
    int received = 0;
    call(MPI_Get_count(&status, MPI_BYTE, &received), "MPI_Get_count");
    if (std::cmp_not_equal(received, size)) {
      throw Error("rank " + std::to_string(rank_) + ": the message from rank " +
                  std::to_string(from) + " has " + std::to_string(first) + " + " +
                  std::to_string(received) + " bytes, not " + std::to_string(bytes.size()));
    }
  });
}

void MpiTransport::agree(std::string_view complaint) {
  const int mine = complaint.empty() ? size_ : rank_;
  int first = size_; // of the ranks that complain
  MPI_Request request = MPI_REQUEST_NULL;
  call(MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, ranks_, &request), "MPI_Iallreduce");
  wait_for_all(request);
  if (first == size_) {
    return;
  }
  std::array<char, 501> text{};
  complaint.copy(text.data(), text.size() - 1);
  const int length = static_cast<int>(text.size());
  call(MPI_Ibcast(text.data(), length, MPI_CHAR, first, ranks_, &request), "MPI_Ibcast");
  wait_for_all(request);
  throw Error(text.data());
}

void MpiTransport::write_at(const std::filesystem::path& file, std::int64_t offset,
                            std::span<const std::byte> bytes) {
  agree(write_part(file, offset, bytes));
}

void MpiTransport::end_all(const std::string& reason) {
  std::fflush(nullptr); // MPI_Abort need not
  std::fprintf(stderr, "diffbench: rank %d: %s\n", rank_, one_line(reason).c_str());
  const Watchdog watchdog(rank_, "", time_limit_ > 0 ? 2 : 0); // the reason is said
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1); // it may return
}

} // namespace diffbench::cluster
