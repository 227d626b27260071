// Exercise 2, missing barrier: a block keeps its cells in shared memory
// Each thread loads one cell of the block's tile, and then reads its neighbours' from there. On
// your machine the result may well be right. Make it right on all of them.
//   diffbench try FILE
#include <cuda_runtime.h>

#define BLOCK_X 32
#define BLOCK_Y 8

__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  __shared__ float tile[BLOCK_Y][BLOCK_X];
  const int x = blockIdx.x * BLOCK_X + threadIdx.x;
  const int y = blockIdx.y * BLOCK_Y + threadIdx.y;
  const bool inside = x < nx && y < ny;
  if (inside) {
    tile[threadIdx.y][threadIdx.x] = u[y * nx + x];
  }
  if (!inside) {
    return;
  }
  // A neighbour comes from the tile where it is in there, else from the field.
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int last_x = min(BLOCK_X, nx - (x - tx)) - 1;
  const int last_y = min(BLOCK_Y, ny - (y - ty)) - 1;
  const float up = ty > 0 ? tile[ty - 1][tx] : u[(y + ny - 1) % ny * nx + x];
  const float down = ty < last_y ? tile[ty + 1][tx] : u[(y + 1) % ny * nx + x];
  const float left = tx > 0 ? tile[ty][tx - 1] : u[y * nx + (x + nx - 1) % nx];
  const float right = tx < last_x ? tile[ty][tx + 1] : u[y * nx + (x + 1) % nx];
  out[y * nx + x] = tile[ty][tx] + factor * (up + down + left + right - 4 * tile[ty][tx]);
}
