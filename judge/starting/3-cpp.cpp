// One step; diffbench calls it once a step and swaps the arrays.
//   diffbench try FILE
// Cell (x, y) is u[y * nx + x]; beyond an edge comes the opposite one.
template <typename T>
static void step_of(const T* u, T* out, int nx, int ny, T factor) {
#pragma omp parallel for
  for (int y = 0; y < ny; ++y) {
    const T* up = u + (y + ny - 1) % ny * nx;
    const T* row = u + y * nx;
    const T* down = u + (y + 1) % ny * nx;
    const auto cell = [=](int left, int x, int right) {
      const T lap = up[x] + down[x] + row[left] + row[right] - 4 * row[x];
      out[y * nx + x] = row[x] + factor * lap;
    };
    cell(nx - 1, 0, 1);
    for (int x = 1; x < nx - 1; ++x) {
      cell(x - 1, x, x + 1);
    }
    cell(nx - 2, nx - 1, 0);
  }
}

void step(const float* u, float* out, int nx, int ny, float factor) {
  step_of(u, out, nx, ny, factor);
}
void step(const double* u, double* out, int nx, int ny, double factor) {
  step_of(u, out, nx, ny, factor);
}
