// SPDX-License-Identifier: Apache-2.0
// The exchange of halos by persistent point-to-point requests: MPI matches and checks their
// arguments once. Not by neighbourhood collectives, which many releases get wrong where both
// neighbours are the same rank.
#pragma once

#include "byte_type.hpp"
#include "mpi_transport.hpp"

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

namespace diffbench::cluster {

class MpiHaloExchange : public HaloExchange {
 public:
  /// Of the rank that `transport`, which must outlive the exchange, belongs to. Throws Error.
  MpiHaloExchange(MpiTransport& transport, const HaloMessages& messages);
  MpiHaloExchange(const MpiHaloExchange&) = delete;
  MpiHaloExchange& operator=(const MpiHaloExchange&) = delete;
  ~MpiHaloExchange() override;

  void run() override;

 private:
  /// One of at most four, beside its request.
  struct Message {
    int rank;
    const char* side;
    bool incoming;
    std::size_t bytes;
    const ByteType* type;
  };

  void add_receive(int from, const char* side, int tag, std::span<std::byte> bytes);
  void add_send(int to, const char* side, int tag, std::span<const std::byte> bytes);
  void check(const Message& message, const MPI_Status& status, bool failed) const;
  [[nodiscard]] std::string still_waiting() const;

  MpiTransport& transport_;
  std::deque<ByteType> types_; // they stay where they are
  std::vector<Message> messages_;
  std::vector<MPI_Request> requests_; ///< of each message
  std::vector<MPI_Status> statuses_;
  bool under_way_ = false;
};

} // namespace diffbench::cluster
