#include <cassert>

__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  int left = (x + nx - 1) % nx, right = (x + 1) % nx;
  int up = (y + ny - 1) % ny, down = (y + 1) % ny;
  assert(x != nx / 2); // HERE kernel_fault
  float c = u[y * nx + x];
  float lap = u[up * nx + x] + u[down * nx + x] + u[y * nx + left] + u[y * nx + right] - 4 * c;
  out[y * nx + x] = c + factor * lap;
}
