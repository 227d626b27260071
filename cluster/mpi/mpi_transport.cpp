// SPDX-License-Identifier: Apache-2.0
#include "mpi_transport.hpp"

#include "diffbench/text.hpp"

#include "byte_type.hpp"
#include "call.hpp"
#include "environment.hpp"
#include "mpi_halo_exchange.hpp"
#include "slabs.hpp"
#include "tags.hpp"
#include "waiting.hpp"

#include <algorithm>
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

/// How often rank 0 sends a sign of life: a few times within the limit.
double seconds_between_signs(double limit_seconds) {
  constexpr double longest = 10;
  return std::min(limit_seconds / 4, longest);
}

/// Whether two threads may call MPI, one at a time.
bool start_mpi() {
  int started = 0;
  call(MPI_Initialized(&started), "MPI_Initialized");
  if (started != 0) {
    throw Error("MPI has been started in this process before; it starts once");
  }
  prepare_environment();
  int level = 0;
  call(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  if (level < MPI_THREAD_FUNNELED) {
    throw Error("this MPI cannot be used in a program with threads (MPI_THREAD_FUNNELED)");
  }
  return level >= MPI_THREAD_SERIALIZED;
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

MpiTransport::Turn::Turn(MpiTransport& transport, const char* call)
    : lock_(transport.turn_), watched_(transport.watchdog(), call, transport.time_limit()) {}

MpiTransport::MpiTransport(double limit_seconds)
    : time_limit_(limit_seconds), exceptions_(std::uncaught_exceptions()) {
  watchdog_.emplace([this] { send_sign_of_life(); });
  const Watched watched(watchdog(), "the start of MPI on all ranks", gather_limit(limit_seconds));
  const bool serialized = start_mpi();
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
  watchdog_->set_rank(rank_);
  const std::scoped_lock lock(turn_);
  signs_.assign(static_cast<std::size_t>(size_ - 1), MPI_REQUEST_NULL);
  signs_of_life_ = serialized;
}

void MpiTransport::set_time_limit(double seconds) {
  const std::scoped_lock lock(turn_);
  time_limit_ = seconds;
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
  {
    const std::scoped_lock lock(turn_);
    signs_of_life_ = false; // from now on MPI is this thread's alone
  }
  if (requests_under_way_) {
    end_all("it left with messages under way");
  }
  if (std::uncaught_exceptions() > exceptions_ && !others_leave_too()) {
    end_all("it left after an error, and other ranks did not");
  }
  const Watched watched(watchdog(), "the end of MPI on all ranks", gather_limit(time_limit_));
  MPI_Comm_free(&farewell_);
  MPI_Comm_free(&ranks_);
  MPI_Finalize();
}

bool MpiTransport::others_leave_too() noexcept {
  const Watched watched(watchdog(), "MPI's barrier", time_limit_);
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(farewell_, &request) != MPI_SUCCESS) {
    return false;
  }
  return wait_until(
      [&] {
        int done = 0;
        MPI_Status status;
        const bool tested = MPI_Test(&request, &done, &status) == MPI_SUCCESS;
        watchdog_->progress();
        return tested && done != 0;
      },
      {.seconds = 5});
}

// By the watchdog's thread; when it is not MPI's turn, rank 0 is heard of anyway.
void MpiTransport::send_sign_of_life() {
  const std::unique_lock lock(turn_, std::try_to_lock);
  if (!lock || !signs_of_life_ || rank_ > 0 || time_limit_ == 0) {
    return;
  }
  int sent = 0;
  MPI_Testall(static_cast<int>(signs_.size()), signs_.data(), &sent, MPI_STATUSES_IGNORE);
  if (sent == 0 || since_sign_.seconds() < seconds_between_signs(time_limit_)) {
    return;
  }
  since_sign_ = {};
  for (std::size_t i = 0; i < signs_.size(); ++i) {
    MPI_Isend(nullptr, 0, MPI_BYTE, static_cast<int>(i) + 1, tags::sign_of_life, ranks_,
              &signs_[i]);
  }
}

bool MpiTransport::took_sign_of_life() const {
  int there = 0;
  MPI_Status status;
  call(MPI_Iprobe(0, tags::sign_of_life, ranks_, &there, &status), "MPI_Iprobe");
  if (there != 0) {
    call(MPI_Recv(nullptr, 0, MPI_BYTE, 0, tags::sign_of_life, ranks_, &status), "MPI_Recv");
  }
  return there != 0;
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
    watchdog_->progress();
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

// Rank 0 may be at work of its own for long: the limit is that of its signs of life.
void MpiTransport::wait_for_rank_0(MPI_Request request) {
  const double limit = signs_of_life_ ? gather_limit(time_limit_) : 0;
  requests_under_way_ = true;
  int arrived = 0;
  while (arrived == 0) {
    const bool heard = wait_until(
        [&] {
          MPI_Status status;
          call(MPI_Test(&request, &arrived, &status), "MPI_Test");
          const bool lives = arrived != 0 || took_sign_of_life();
          watchdog_->progress();
          return lives;
        },
        {.seconds = limit, .longest_sleep = idle_sleep});
    if (!heard) {
      throw TimedOut("rank " + std::to_string(rank_) + ": no sign of rank 0 for " +
                     seconds_text(limit));
    }
  }
  requests_under_way_ = false;
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
  const Turn turn(*this, "MPI's broadcast");
  in_slabs(bytes.size(), [&](std::size_t first, std::size_t size) {
    MPI_Request request = MPI_REQUEST_NULL;
    call(MPI_Ibcast(bytes.data() + first, static_cast<int>(size), MPI_BYTE, 0, ranks_, &request),
         "MPI_Ibcast");
    if (rank_ > 0) {
      wait_for_rank_0(request);
      return;
    }
    MPI_Status status;
    wait_for_one(request, status, "other ranks have not taken a command",
                 gather_limit(time_limit_));
  });
}

void MpiTransport::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (all.size() != mine.size() * static_cast<std::size_t>(size_)) {
    throw Error("all_gather of " + std::to_string(mine.size()) + " bytes a rank into " +
                std::to_string(all.size()));
  }
  const Turn turn(*this, "MPI's gathering");
  const ByteType type(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  call(MPI_Iallgather(mine.data(), type.count(), type.type(), all.data(), type.count(), type.type(),
                      ranks_, &request),
       "MPI_Iallgather");
  MPI_Status status;
  wait_for_one(request, status, "other ranks have not gathered", gather_limit(time_limit_));
}

void MpiTransport::send(int to, std::span<const std::byte> bytes) {
  const std::string complaint = "its message was not taken by rank " + std::to_string(to);
  const Turn turn(*this, "MPI's sending");
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
  const Turn turn(*this, "MPI's receiving");
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

void MpiTransport::end_all(const std::string& reason) {
  std::fflush(nullptr); // MPI_Abort need not
  std::fprintf(stderr, "diffbench: rank %d: %s\n", rank_, one_line(reason).c_str());
  const Watched watched(watchdog(), "", 2); // the reason is said
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1); // it may return
}

} // namespace diffbench::cluster
