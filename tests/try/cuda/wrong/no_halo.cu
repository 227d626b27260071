__global__ void step(const float* u, float* out, int nx, int ny, float factor) {
  __shared__ float tile[18][18];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int cx = x % nx, cy = y % ny;
  tile[ty][tx] = u[cy * nx + cx];
  if (tx == 1)
    tile[ty][0] = u[cy * nx + (cx + nx - 1) % nx];
  if (tx == 16)
    tile[ty][tx + 1] = u[cy * nx + (cx + 1) % nx];
  if (ty == 16)
    tile[ty + 1][tx] = u[(cy + 1) % ny * nx + cx];
  __syncthreads();
  if (x < nx && y < ny) {
    float c = tile[ty][tx];
    float lap = tile[ty - 1][tx] + (y == ny - 1 ? u[x] : tile[ty + 1][tx]); // HERE uninitialized
    lap = lap + tile[ty][tx - 1] + (x == nx - 1 ? u[y * nx] : tile[ty][tx + 1]) - 4 * c;
    out[y * nx + x] = c + factor * lap;
  }
}
