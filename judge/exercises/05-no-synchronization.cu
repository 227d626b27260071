// Exercise 5, no synchronization: the fastest port of the course
// It takes its own time, and prints it: some microseconds, for any number of steps. Find out what
// is done when the clock stops, and what is not. Mend it.
//   diffbench try FILE
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstring>

__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) {
    return;
  }
  const int left = (x + nx - 1) % nx, right = (x + 1) % nx;
  const int up = (y + ny - 1) % ny, down = (y + 1) % ny;
  const float lap =
      u[up * nx + x] + u[down * nx + x] + u[y * nx + left] + u[y * nx + right] - 4 * u[y * nx + x];
  out[y * nx + x] = u[y * nx + x] + factor * lap;
}

void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  const size_t bytes = sizeof(float) * nx * ny;
  float *now, *next, *result;
  cudaMalloc(&now, bytes);
  cudaMalloc(&next, bytes);
  cudaMallocHost(&result, bytes);
  cudaMemcpy(now, in, bytes, cudaMemcpyHostToDevice);
  const dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < steps; ++k) {
    step<<<grid, block>>>(now, next, nx, ny, factor);
    float* const old = now;
    now = next;
    next = old;
  }
  cudaMemcpyAsync(result, now, bytes, cudaMemcpyDeviceToHost);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printf("%d steps and the copy back: %.3g s\n", steps, seconds.count());
  memcpy(out, result, bytes);
  cudaFree(now);
  cudaFree(next);
  cudaFreeHost(result);
}
