// A session, with a pitched field.
#include <diffbench_try.h>

struct diffbench_session {
  diffbench_problem problem;
  float *u, *next;
  size_t pitch;
};

__global__ void pitched_step(const float* u, float* out, size_t pitch, int nx, int ny, float f) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x >= nx)
    return;
  const int width = pitch / sizeof(float);
  const float c = u[y * width + x];
  const float lap = u[(y + ny - 1) % ny * width + x] + u[(y + 1) % ny * width + x] +
                    u[y * width + (x + nx - 1) % nx] + u[y * width + (x + 1) % nx] - 4 * c;
  out[y * width + x] = c + f * lap;
}

diffbench_session* diffbench_create_f32(const diffbench_problem* problem) {
  auto* s = new diffbench_session{*problem, nullptr, nullptr, 0};
  cudaMallocPitch(&s->u, &s->pitch, problem->nx * sizeof(float), problem->ny);
  cudaMallocPitch(&s->next, &s->pitch, problem->nx * sizeof(float), problem->ny);
  return s;
}
int diffbench_upload_f32(diffbench_session* s, const float* cells) {
  const size_t row = s->problem.nx * sizeof(float);
  return cudaMemcpy2D(s->u, s->pitch, cells, row, row, s->problem.ny, cudaMemcpyHostToDevice);
}
int diffbench_advance_f32(diffbench_session* s, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    pitched_step<<<dim3((s->problem.nx + 63) / 64, s->problem.ny), 64>>>(
        s->u, s->next, s->pitch, s->problem.nx, s->problem.ny, (float)s->problem.factor);
    float* t = s->u;
    s->u = s->next;
    s->next = t;
  }
  return cudaGetLastError();
}
int diffbench_wait_f32(diffbench_session*) { return cudaDeviceSynchronize(); }
int diffbench_download_f32(diffbench_session* s, float* cells) {
  const size_t row = s->problem.nx * sizeof(float);
  return cudaMemcpy2D(cells, row, s->u, s->pitch, row, s->problem.ny, cudaMemcpyDeviceToHost);
}
void diffbench_destroy_f32(diffbench_session* s) {
  cudaFree(s->u);
  cudaFree(s->next);
  delete s;
}
