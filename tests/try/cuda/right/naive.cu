#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                         \
  do {                                                                      \
    cudaError_t error = (call);                                             \
    if (error != cudaSuccess) {                                             \
      printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) {
    float left = u[y * nx + (x == 0 ? nx - 1 : x - 1)];
    float right = u[y * nx + (x == nx - 1 ? 0 : x + 1)];
    float up = u[(y == 0 ? ny - 1 : y - 1) * nx + x];
    float down = u[(y == ny - 1 ? 0 : y + 1) * nx + x];
    float c = u[y * nx + x];
    out[y * nx + x] = c + factor * (up + down + left + right - 4.0f * c);
  }
}

void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  size_t bytes = sizeof(float) * nx * ny;
  float *d_u, *d_out;
  CHECK(cudaMalloc(&d_u, bytes));
  CHECK(cudaMalloc(&d_out, bytes));
  CHECK(cudaMemcpy(d_u, in, bytes, cudaMemcpyHostToDevice));
  dim3 block(16, 16), grid((nx + 15) / 16, (ny + 15) / 16);
  for (int i = 0; i < steps; ++i) {
    step<<<grid, block>>>(d_u, d_out, nx, ny, factor);
    CHECK(cudaGetLastError());
    float* t = d_u;
    d_u = d_out;
    d_out = t;
  }
  CHECK(cudaMemcpy(out, d_u, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_u));
  CHECK(cudaFree(d_out));
}
