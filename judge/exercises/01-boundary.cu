// Exercise 1, boundary: every cell has four neighbours, at the edges too
// The field has no border: beyond an edge comes the opposite one, as with NumPy's roll. This port
// is right in the middle of the field. Mend the rest.
//   diffbench try FILE
#include <cuda_runtime.h>

__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) {
    return;
  }
  const int left = max(x - 1, 0), right = min(x + 1, nx - 1);
  const int up = max(y - 1, 0), down = min(y + 1, ny - 1);
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
