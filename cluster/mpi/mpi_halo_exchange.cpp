// SPDX-License-Identifier: Apache-2.0
#include "mpi_halo_exchange.hpp"

#include "call.hpp"
#include "tags.hpp"

#include <utility>

namespace diffbench::cluster {

MpiHaloExchange::MpiHaloExchange(MpiTransport& transport, const HaloMessages& messages)
    : transport_(transport) {
  const MpiTransport::Turn turn(transport, "MPI's setting up of messages");
  // What comes from the rank above has gone down. Where upper and lower are one rank, only the tag
  // tells its two messages apart.
  if (messages.upper >= 0) {
    add_receive(messages.upper, "upper", tags::down, messages.from_upper);
  }
  if (messages.lower >= 0) {
    add_receive(messages.lower, "lower", tags::up, messages.from_lower);
  }
  if (messages.upper >= 0) {
    add_send(messages.upper, "upper", tags::up, messages.to_upper);
  }
  if (messages.lower >= 0) {
    add_send(messages.lower, "lower", tags::down, messages.to_lower);
  }
  statuses_.resize(requests_.size());
}

MpiHaloExchange::~MpiHaloExchange() {
  if (under_way_) {
    return; // MPI still has them
  }
  const MpiTransport::Turn turn(transport_, "MPI's taking down of messages");
  for (MPI_Request& request : requests_) {
    MPI_Request_free(&request);
  }
  types_.clear();
}

void MpiHaloExchange::add_receive(int from, const char* side, int tag, std::span<std::byte> bytes) {
  const ByteType& type = types_.emplace_back(bytes.size());
  MPI_Request request = MPI_REQUEST_NULL;
  call(MPI_Recv_init(bytes.data(), type.count(), type.type(), from, tag, transport_.communicator(),
                     &request),
       "MPI_Recv_init");
  requests_.push_back(request);
  messages_.push_back(
      {.rank = from, .side = side, .incoming = true, .bytes = bytes.size(), .type = &type});
}

void MpiHaloExchange::add_send(int to, const char* side, int tag,
                               std::span<const std::byte> bytes) {
  const ByteType& type = types_.emplace_back(bytes.size());
  MPI_Request request = MPI_REQUEST_NULL;
  call(MPI_Send_init(bytes.data(), type.count(), type.type(), to, tag, transport_.communicator(),
                     &request),
       "MPI_Send_init");
  requests_.push_back(request);
  messages_.push_back(
      {.rank = to, .side = side, .incoming = false, .bytes = bytes.size(), .type = &type});
}

void MpiHaloExchange::run() {
  if (requests_.empty()) {
    return;
  }
  const MpiTransport::Turn turn(transport_, "MPI's exchange of halos");
  under_way_ = true; // until all have come
  const int started = MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
  call(started, "MPI_Startall");
  const bool failed = !transport_.wait(
      requests_, statuses_, [this] { return still_waiting(); }, transport_.time_limit());
  under_way_ = false;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    check(messages_[i], statuses_[i], failed);
  }
}

void MpiHaloExchange::check(const Message& message, const MPI_Status& status, bool failed) const {
  const std::string me = "rank " + std::to_string(transport_.rank()) + ": ";
  const std::string other = "rank " + std::to_string(message.rank) + " (" + message.side + ")";
  if (failed && status.MPI_ERROR != MPI_SUCCESS) {
    throw Error(me + "the message " + (message.incoming ? "from " : "to ") + other + " of " +
                std::to_string(message.bytes) +
                " bytes failed: " + mpi_error_text(status.MPI_ERROR));
  }
  if (!message.incoming) {
    return;
  }
  MPI_Count bytes = 0;
  call(MPI_Get_elements_x(&status, message.type->type(), &bytes), "MPI_Get_elements_x");
  if (std::cmp_not_equal(bytes, message.bytes)) {
    throw Error(me + "the message from " + other + " has " + std::to_string(bytes) +
                " bytes, not " + std::to_string(message.bytes));
  }
}

std::string MpiHaloExchange::still_waiting() const {
  std::string senders;
  std::string receivers;
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    int done = 0;
    MPI_Status status;
    MPI_Request_get_status(requests_[i], &done, &status);
    if (done == 0) {
      std::string& names = messages_[i].incoming ? senders : receivers;
      names += (names.empty() ? "rank " : " and rank ") + std::to_string(messages_[i].rank) + " (" +
               messages_[i].side + ")";
    }
  }
  if (senders.empty()) {
    return "its message was not taken by " + receivers;
  }
  return "no message from " + senders;
}

} // namespace diffbench::cluster
