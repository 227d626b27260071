#include <cooperative_groups.h>
#include <cassert>
#include <cstdio>
namespace cg = cooperative_groups;
__device__ __managed__ int done_cells;
__managed__ float scale[2];
__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = i % nx, y = i / nx;
  if (i < nx * ny) {
    assert(x < nx && y < ny);
    const float c = u[i];
    const float lap = u[(y + ny - 1) % ny * nx + x] + u[(y + 1) % ny * nx + x] +
                      u[y * nx + (x + nx - 1) % nx] + u[y * nx + (x + 1) % nx] - 4 * c;
    out[i] = c + scale[1] * lap;
  }
  int mine = i < nx * ny;
  for (int d = tile.size() / 2; d > 0; d /= 2)
    mine += tile.shfl_down(mine, d);
  if (tile.thread_rank() == 0)
    atomicAdd(&done_cells, mine);
}
void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  float *a, *b;
  const size_t bytes = sizeof(float) * nx * ny;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMemcpy(a, in, bytes, cudaMemcpyHostToDevice);
  done_cells = 0;
  scale[1] = factor;
  for (int k = 0; k < steps; ++k) {
    step<<<(nx * ny + 127) / 128, 128>>>(a, b, nx, ny, factor);
    float* t = a;
    a = b;
    b = t;
  }
  if (done_cells != nx * ny * steps) // HERE early_read
    printf("no %d\n", done_cells);
  cudaMemcpy(out, a, bytes, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
}
