// SPDX-License-Identifier: Apache-2.0
// cuBLASLt on a CUDA device: products with bias, ReLU and their gradients fused in, plain SGD in
// the product that makes the gradient, the whole step one graph. Batches come from the host, or are
// gathered on the device from the rows that lie there.
//
// A batch always takes its full size: rows that it has not are 0 and have no gradient, so one graph
// does for all, and a smaller last batch costs as much as a full one.
#include "cuda/batch_feed.hpp"
#include "cuda/batched_forward.hpp"
#include "cuda/device_net.hpp"
#include "cuda/device_rows.hpp"
#include "cuda/kernels.hpp"
#include "cuda/launch_shape.hpp"
#include "cuda/step_graph.hpp"
#include "diffbench/gpu/device.hpp"
#include "diffbench/mlp/engine.hpp"

#include <algorithm>
#include <array>

namespace diffbench::mlp {

namespace {

using cuda::Batch;
using cuda::StepPart;

template <typename T>
class CudaEngine final : public Engine<T>, public ResidentData<T> {
 public:
  CudaEngine(const Training& training, const SessionOptions& options)
      : training_(training),
        options_(options),
        device_(gpu::use_device(options.device)),
        clock_(training.times),
        feed_(compute_, training, options),
        net_(compute_, training),
        outputs_(options.transfer == Transfer::pinned
                     ? gpu::PinnedArray<T>(training.batch * training.network.classes())
                     : gpu::PinnedArray<T>()) {
    // Once as it is, before it is recorded: what the library loads and sets up at a first call does
    // not belong into a graph. On a batch of no rows it changes nothing.
    for (const StepPart& part : step_on(feed_.batch(0), [this] { issue_take(0); })) {
      part.issue();
    }
    compute_.synchronize();
    for (std::size_t place = 0; place < feed_.places; ++place) {
      steps_[place] = {compute_, clock_,
                       step_on(feed_.batch(place), [this, place] { issue_take(place); })};
      forwards_[place] = {compute_, clock_, {{&StepTimes::forward, [this, place] {
                                                net_.issue_forward(compute_,
                                                                   feed_.batch(place).features);
                                              }}}};
    }
  }

  ~CudaEngine() override {
    DIFFBENCH_CUDA_LOG(cudaSetDevice(device_.index));
    DIFFBENCH_CUDA_LOG(cudaStreamSynchronize(compute_.get()));
  }

  void set_parameters(std::span<const T> parameters) override {
    make_current();
    net_.set_parameters(compute_, parameters);
  }
  void get_parameters(std::span<T> parameters) override {
    make_current();
    net_.get_parameters(compute_, parameters);
  }

  void step(std::span<const T> features, std::span<const std::int32_t> labels) override {
    make_current();
    const std::size_t place = feed_.send(features, labels, clock_);
    steps_[place].launch(compute_, clock_);
    feed_.release(place);
  }

  Losses wait() override {
    make_current();
    settle();
    return net_.take_losses(compute_);
  }

  void forward(std::span<const T> features, std::span<T> outputs) override {
    cuda::batched_forward(*this, training_, features, outputs);
  }

  /// From and to pageable memory the copies are not asynchronous: the first half then waits for the
  /// rows to arrive, and the outputs travel in the second.
  void start_forward(std::span<const T> features, std::span<T> outputs) override {
    make_current();
    const std::size_t place = feed_.send(features, {}, clock_);
    forwards_[place].launch(compute_, clock_);
    feed_.release(place);
    pending_outputs_ = outputs;
    if (outputs_.size() != 0) {
      gpu::copy_to_host(compute_, outputs_.data(), net_.outputs(), outputs.size_bytes());
    }
  }
  void finish_forward() override {
    make_current();
    settle();
    if (outputs_.size() != 0) {
      std::copy_n(outputs_.data(), pending_outputs_.size(), pending_outputs_.begin());
    } else {
      gpu::copy_to_host(compute_, pending_outputs_.data(), net_.outputs(),
                        pending_outputs_.size_bytes());
      compute_.synchronize();
    }
  }

  [[nodiscard]] ResidentData<T>* resident_data() override { return this; }

  void set_data(std::span<const T> features, std::span<const std::int32_t> labels) override {
    make_current();
    compute_.synchronize();
    rows_.set(compute_, features, labels);
    record_resident_step();
  }

  void run(std::span<const std::int32_t> order) override {
    make_current();
    if (rows_.send_order(compute_, order, clock_)) {
      record_resident_step();
    }
    const auto count = static_cast<std::int64_t>(order.size());
    gpu::launch(compute_, {.grid = dim3(1), .block = dim3(1)}, cuda::net_kernels<T>().begin_order,
                net_.state(), count);
    for (std::int64_t begin = 0; begin < count; begin += training_.batch) {
      resident_step_.launch(compute_, clock_);
    }
    feed_.release(0);
  }

  [[nodiscard]] std::optional<EngineTimes> take_times() override {
    if (!clock_.on()) {
      return std::nullopt;
    }
    make_current();
    settle();
    return clock_.take();
  }

  [[nodiscard]] Provenance provenance() const override {
    Provenance provenance = gpu::device_provenance(device_, options_);
    provenance.details.emplace_back(
        "graph", clock_.on() ? "one for each part of a step" : "one for the whole step");
    for (auto& detail : net_.details()) {
      provenance.details.push_back(std::move(detail));
    }
    return provenance;
  }

 private:
  // The current device belongs to the calling thread, and another engine may have changed it.
  void make_current() const { DIFFBENCH_CUDA_CHECK(cudaSetDevice(device_.index)); }

  void settle() { clock_.settle(compute_); }

  [[nodiscard]] std::vector<StepPart> step_on(const Batch<T>& batch, std::function<void()> take) {
    return {
        {&StepTimes::data, std::move(take)},
        {&StepTimes::forward,
         [this, batch] {
           net_.issue_forward(compute_, batch.features);
           net_.issue_loss(compute_, batch.labels);
         }},
        {&StepTimes::backward, [this, batch] { net_.issue_backward(compute_, batch.features); }},
        {&StepTimes::update, [this] { net_.issue_update(compute_); }}};
  }

  /// A thread for each number of a batch.
  [[nodiscard]] gpu::LaunchShape batch_shape() const {
    return cuda::threads_for(training_.batch * training_.network.inputs());
  }
  void issue_take(std::size_t place) {
    gpu::launch(compute_, batch_shape(), cuda::net_kernels<T>().take_batch, feed_.batch(place),
                net_.optimizer(), net_.state());
  }
  void issue_gather() {
    gpu::launch(compute_, batch_shape(), cuda::net_kernels<T>().gather_batch, rows_.on_device(),
                feed_.batch(0), net_.optimizer(), net_.state());
  }

  /// Anew when the rows lie elsewhere: a graph has their addresses.
  void record_resident_step() {
    resident_step_ = {compute_, clock_, step_on(feed_.batch(0), [this] { issue_gather(); })};
  }

  Training training_;
  SessionOptions options_;
  gpu::Device device_;
  gpu::Stream compute_;
  cuda::StepClock clock_;
  cuda::BatchFeed<T> feed_;
  cuda::DeviceNet<T> net_;
  gpu::PinnedArray<T> outputs_; ///< on their way to the host; empty when pageable
  std::span<T> pending_outputs_;

  cuda::DeviceRows<T> rows_;
  std::array<cuda::StepGraph, cuda::BatchFeed<T>::places> steps_, forwards_;
  cuda::StepGraph resident_step_;
};

} // namespace

namespace engines {

EngineInfo cuda() {
  return {.name = "cuda",
          .description = "cuBLASLt with fused epilogues, the step one CUDA graph",
          .device = gpu::emulated ? DeviceKind::emulated : DeviceKind::cuda,
          .ladder = 100,
          .probe = diffbench::mlp::cuda::probe_cublaslt,
          .make_float32 = EngineInfo::construct<CudaEngine<float>>,
          .make_float64 = EngineInfo::construct<CudaEngine<double>>};
}

} // namespace engines

} // namespace diffbench::mlp
