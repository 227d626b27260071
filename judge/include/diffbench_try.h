// SPDX-License-Identifier: Apache-2.0
/* The forms in which `diffbench try` takes a solver of yours, in C99. You need not include this
 * file: a function of a matching name and type is found. It is here to be read, and to have the
 * compiler check the session form.
 *
 * The problem: du/dt = D (d2u/dx2 + d2u/dy2) on nx columns and ny rows, rows contiguous, cell (x,
 * y) at u[y * nx + x], periodic edges. One time step is, in this order and in the field's own type,
 *
 *   lap = up + down + left + right - 4 * u       up: u[(y - 1) * nx + x], left: u[y * nx + x - 1]
 *   out = u + factor * lap                       factor: dt D / h^2, rounded to the type
 *
 * A file may hold several forms; the widest is taken: session, solve, then step. The type is float
 * or double, and in C++ a file may hold both. `step` and `solve` may have C's or C++'s linkage.
 *
 * 1. One step. `out` does not overlap `u`.
 *      void step(const float* u, float* out, int nx, int ny, float factor);
 *    In a .cu file it is a kernel, which is launched once a step with one thread a cell:
 *      __global__ void step(const float* u, float* out, int nx, int ny, float factor);
 *
 * 2. The whole solve, from one array of the host to another one. `in` keeps what it holds.
 *      void solve(const float* in, float* out, int nx, int ny, int steps, float factor);
 *
 * 3. A session, which keeps the field where it likes between calls: the functions below.
 */
#ifndef DIFFBENCH_TRY_H
#define DIFFBENCH_TRY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  DIFFBENCH_PERIODIC = 0,  /* the opposite edge */
  DIFFBENCH_DIRICHLET = 1, /* boundary_value */
  DIFFBENCH_NEUMANN = 2    /* the edge cell itself */
};

typedef struct diffbench_problem {
  int32_t nx, ny;
  int32_t boundary; /* what cells outside the grid hold: DIFFBENCH_PERIODIC unless you offer more */
  int32_t reserved; /* 0 */
  double boundary_value;
  double factor; /* dt D / h^2, already rounded to the type of the session */
} diffbench_problem;

/* Yours. One thread at a time uses a session. */
typedef struct diffbench_session diffbench_session;

/* Functions that return int return 0, or any other number where they failed. The order of calls is
 * create, then upload, then any number of advance, wait and download, upload again to start anew,
 * and destroy. */

/* A session for one problem, or NULL. */
diffbench_session* diffbench_create_f32(const diffbench_problem* problem);
/* Replaces the field by nx * ny cells; `cells` may be reused when it returns. */
int diffbench_upload_f32(diffbench_session* session, const float* cells);
/* steps >= 0. May return before the work is done. */
int diffbench_advance_f32(diffbench_session* session, int64_t steps);
/* Blocks until all work is done. */
int diffbench_wait_f32(diffbench_session* session);
/* Waits, then copies the field to `cells`. */
int diffbench_download_f32(diffbench_session* session, float* cells);
/* Frees all that the session has. */
void diffbench_destroy_f32(diffbench_session* session);

/* The same for fields of double. A file offers one type or both. */
diffbench_session* diffbench_create_f64(const diffbench_problem* problem);
int diffbench_upload_f64(diffbench_session* session, const double* cells);
int diffbench_advance_f64(diffbench_session* session, int64_t steps);
int diffbench_wait_f64(diffbench_session* session);
int diffbench_download_f64(diffbench_session* session, double* cells);
void diffbench_destroy_f64(diffbench_session* session);

/* Not needed. Why the last call failed: one line, valid until the next call. */
const char* diffbench_error(void);
/* Not needed. The boundaries that the session knows, a sum of 1 << DIFFBENCH_...; it is judged on
 * all of them. Without it only on periodic ones. */
int32_t diffbench_boundaries(void);

#ifdef __cplusplus
}
#endif

#endif
