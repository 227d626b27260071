// Exercise 10, partial block: blocks of 16 x 16 cover the field
// No thread may touch a cell that is not there, so the author looks at each block first. With 640 x
// 640 cells all is well. Try it with 641, and mend it.
//   diffbench try FILE
#include <cuda_runtime.h>

__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if ((blockIdx.x + 1) * blockDim.x > nx || (blockIdx.y + 1) * blockDim.y > ny) {
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
  cudaMalloc(&now, bytes);
  cudaMalloc(&next, bytes);
  cudaMemcpy(now, in, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(next, in, bytes, cudaMemcpyHostToDevice);
  const dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
  for (int k = 0; k < steps; ++k) {
    step<<<grid, block>>>(now, next, nx, ny, factor);
    float* const old = now;
    now = next;
    next = old;
  }
  cudaMemcpy(out, now, bytes, cudaMemcpyDeviceToHost);
  cudaFree(now);
  cudaFree(next);
}
