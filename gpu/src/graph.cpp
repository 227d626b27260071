// SPDX-License-Identifier: Apache-2.0
#include "diffbench/gpu/graph.hpp"

#include "diffbench/gpu/error.hpp"

namespace diffbench::gpu {

namespace detail {

void destroy_graph_exec(cudaGraphExec_t graph) noexcept {
  DIFFBENCH_CUDA_LOG(cudaGraphExecDestroy(graph));
}

} // namespace detail

namespace {

void destroy_graph(cudaGraph_t graph) noexcept { DIFFBENCH_CUDA_LOG(cudaGraphDestroy(graph)); }
using RecordedGraph = Owner<cudaGraph_t, destroy_graph>;

} // namespace

Graph Graph::capture(const Stream& stream, const std::function<void()>& work) {
  cudaGraph_t recorded = nullptr;
  // Relaxed: a kernel's code is loaded when it is first launched, which may be here, and loading is
  // one of the calls that the stricter modes refuse.
  DIFFBENCH_CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed));
  try {
    work();
  } catch (...) {
    // A stream that goes on capturing cannot be used any more. The capture may be invalid by now,
    // and ending it then fails: the error of the work is the one to report.
    (void)cudaStreamEndCapture(stream.get(), &recorded);
    const RecordedGraph discarded(recorded);
    (void)cudaGetLastError();
    throw;
  }
  DIFFBENCH_CUDA_CHECK(cudaStreamEndCapture(stream.get(), &recorded));
  const RecordedGraph owned(recorded);
  cudaGraphExec_t exec = nullptr;
  DIFFBENCH_CUDA_CHECK(cudaGraphInstantiate(&exec, recorded, 0));
  Graph graph;
  graph.exec_ = decltype(graph.exec_)(exec);
  return graph;
}

void Graph::launch(const Stream& stream) const {
  DIFFBENCH_CUDA_CHECK(cudaGraphLaunch(exec_.get(), stream.get()));
}

} // namespace diffbench::gpu
