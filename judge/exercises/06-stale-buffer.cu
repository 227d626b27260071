// Exercise 6, stale buffer: two arrays take turns
// One array holds the field, the other one gets the next; then they change their parts. It passed
// the test of its author, who tried it with one step. Mend it for any number.
//   diffbench try FILE
#include <cuda_runtime.h>

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
  float *a, *b;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMemcpy(a, in, bytes, cudaMemcpyHostToDevice);
  const dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
  for (int k = 0; k < steps; ++k) {
    if (k % 2 == 0) {
      step<<<grid, block>>>(a, b, nx, ny, factor);
    } else {
      step<<<grid, block>>>(b, a, nx, ny, factor);
    }
  }
  cudaMemcpy(out, b, bytes, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
}
