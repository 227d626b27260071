// Exercise 11, managed memory: memory that the host and the GPU share
// There are no copies to write: pages move to whoever touches them. The result is right. Say how
// often the field travels, and mend it.
//   diffbench try FILE
#include <cuda_runtime.h>

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
  float *now, *next;
  cudaMallocManaged(&now, bytes);
  cudaMallocManaged(&next, bytes);
  memcpy(now, in, bytes);
  const dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
  for (int k = 0; k < steps; ++k) {
    step<<<grid, block>>>(now, next, nx, ny, factor);
    cudaDeviceSynchronize();
    memcpy(now, next, bytes);
  }
  memcpy(out, now, bytes);
  cudaFree(now);
  cudaFree(next);
}
