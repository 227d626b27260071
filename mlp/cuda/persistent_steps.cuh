// SPDX-License-Identifier: Apache-2.0
// Many steps of a small network in one launch of one cluster.
//
// A step meets the cluster's barrier after each divided level, forward and backward, once for each
// portion of the gradients, and at its end; between these, blocks do not wait for each other.
#pragma once

#include "persistent_block.cuh"

namespace diffbench::mlp::cuda {

/// The steps of an order of rows, one for each batch.
template <typename T>
__global__ void __launch_bounds__(persistent_threads, 1)
    persistent_steps(const __grid_constant__ PersistentNet net,
                     const __grid_constant__ PersistentWork<T> work,
                     const __grid_constant__ OptimizerConstants<T> optimizer) {
  PersistentBlock<T> block(net, work);
  block.load();
  block.gather(0);
  // Every thread keeps the optimizer's state for itself.
  StepState<T> state = *work.state;
  block.barrier();
  for (std::int64_t begin = 0; begin < work.count; begin += net.batch) {
    const std::int32_t rows = block.rows_from(begin);
    begin_step(optimizer, state, rows);
    for (int layer = 0; layer < net.layers; ++layer) {
      block.forward(layer);
    }
    block.softmax_loss(begin, rows);
    int turn = 0;
    for (int layer = net.layers - 1; layer > 0; --layer) {
      block.input_gradient(layer, turn);
    }
    for (int portion = 0; portion < net.portions(); ++portion) {
      if (portion > 0 && net.waits_for_place()) {
        block.barrier();
      }
      block.gradients(portion);
      block.barrier();
      block.update(portion, state.factors);
    }
    block.end_step(begin + net.batch);
  }
  block.store();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    work.state->power1 = state.power1;
    work.state->power2 = state.power2;
  }
}

/// The outputs for the first batch of the rows.
template <typename T>
__global__ void __launch_bounds__(persistent_threads, 1)
    persistent_forward(const __grid_constant__ PersistentNet net,
                       const __grid_constant__ PersistentWork<T> work) {
  PersistentBlock<T> block(net, work);
  block.load();
  block.gather(0);
  block.barrier();
  for (int layer = 0; layer < net.layers; ++layer) {
    block.forward(layer);
  }
  block.give_outputs();
}

} // namespace diffbench::mlp::cuda
