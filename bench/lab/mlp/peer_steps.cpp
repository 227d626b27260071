// Peers in a race: the children that they live in.
#include "diffbench/errors.hpp"
#include "interrupt.hpp"
#include "peers.hpp"
#include "timed_peer.hpp"
#include "timed_steps.hpp"

#include <memory>
#include <utility>

namespace diffbench::bench {

std::unique_ptr<TimedSteps> PeerPool::steps(const std::string& name, int threads, int device,
                                            const TrainingJob& job) {
  const PeerJob start =
      network_job(PeerTask::training, exchange_.path(), job.training, job.start, job.data);
  std::shared_ptr<Peer> peer = std::exchange(peers_[{name, threads}], nullptr);
  if (peer) {
    try {
      peer->restart(start);
    } catch (const Error&) { // it has died since
      peer.reset();
    }
  }
  if (!peer) {
    const SessionOptions session{.threads = threads, .device = device};
    peer = std::make_shared<Peer>(name, start, session, interrupted);
  }
  return std::make_unique<TimedPeer<float>>(peers_[{name, threads}] = peer,
                                            exchange_.path() / "result.npy");
}

} // namespace diffbench::bench
