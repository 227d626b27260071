// SPDX-License-Identifier: Apache-2.0
// CUDA's exponential and logarithm as kernels of their own: what they give is part of what a
// network computes, and is nvcc's.

template <typename T>
__global__ void exponential(const T* in, T* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = exp(in[i]);
}

template <typename T>
__global__ void logarithm(const T* in, T* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = log(in[i]);
}

template __global__ void exponential(const float*, float*);
template __global__ void exponential(const double*, double*);
template __global__ void logarithm(const float*, float*);
template __global__ void logarithm(const double*, double*);
