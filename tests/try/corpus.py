# SPDX-License-Identifier: Apache-2.0
"""Submissions for `diffbench try`, each with what is to be said of it: right ones in all forms, classic
mistakes, and cheats that have been published (docs/try.md names them). Most are one text with something
replaced.

A submission is (name, ending, source, verdict, detail): of a right one `detail` is what it computes, or
None; of a wrong one the id of its mistake, or None where none may be named, a text that the complaint
holds, behind "says: ", or "*" where chance has a part in what is said.
"""
import pathlib

SAME, CONTRACTED, ROUNDING, WRONG = ("the same bits", "right, contracted", "right within rounding",
                                     "wrong")

STEP_C = """\
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define BX 16
#define BY 16
void step(const float* u, float* out, int nx, int ny, float factor) {
  /* first */
  for (int y = 0; y < ny; ++y) {
    for (int x = 0; x < nx; ++x) {
      const int left = (x + nx - 1) % nx, right = (x + 1) % nx;
      const int up = (y + ny - 1) % ny, down = (y + 1) % ny;
      const float lap = u[up * nx + x] + u[down * nx + x] + u[y * nx + left] + u[y * nx + right] -
                        4 * u[y * nx + x];
      out[y * nx + x] = u[y * nx + x] + factor * lap;
    }
  }
}
"""
ASSIGN = "out[y * nx + x] = u[y * nx + x] + factor * lap;"
LAP = """u[up * nx + x] + u[down * nx + x] + u[y * nx + left] + u[y * nx + right] -
                        4 * u[y * nx + x];"""

SOLVE_C = STEP_C.replace("void step", "static void advance") + """
void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  const size_t bytes = sizeof(float) * nx * ny;
  float* now = malloc(bytes);
  float* next = malloc(bytes);
  memcpy(now, in, bytes);
  for (int k = 0; k < steps; ++k) {
    advance(now, next, nx, ny, factor);
    float* old = now; now = next; next = old;
  }
  memcpy(out, now, bytes);
  free(now);
  free(next);
}
"""

SESSION_C = STEP_C.replace("void step", "static void advance") + """
#include "diffbench_try.h"
struct diffbench_session { diffbench_problem p; float *now, *next; };
diffbench_session* diffbench_create_f32(const diffbench_problem* p) {
  diffbench_session* s = malloc(sizeof *s);
  s->p = *p;
  s->now = malloc(sizeof(float) * p->nx * p->ny);
  s->next = malloc(sizeof(float) * p->nx * p->ny);
  return s;
}
int diffbench_upload_f32(diffbench_session* s, const float* cells) {
  memcpy(s->now, cells, sizeof(float) * s->p.nx * s->p.ny);
  return 0;
}
int diffbench_advance_f32(diffbench_session* s, int64_t steps) {
  for (int64_t k = 0; k < steps; ++k) {
    advance(s->now, s->next, s->p.nx, s->p.ny, (float)s->p.factor);
    float* old = s->now; s->now = s->next; s->next = old;
  }
  return 0;
}
int diffbench_wait_f32(diffbench_session* s) { return s == NULL; }
int diffbench_download_f32(diffbench_session* s, float* cells) {
  memcpy(cells, s->now, sizeof(float) * s->p.nx * s->p.ny);
  return 0;
}
void diffbench_destroy_f32(diffbench_session* s) { free(s->now); free(s->next); free(s); }
"""

# A session that knows all three kinds of edges.
EDGES_C = SESSION_C.replace(LAP, "at(u, nx, ny, x, y - 1) + at(u, nx, ny, x, y + 1) + at(u, nx, ny, x - 1, y) +"
                            " at(u, nx, ny, x + 1, y) - 4 * u[y * nx + x];").replace("#define BX 16", """\
#include "diffbench_try.h"
static diffbench_problem edges;
static float at(const float* u, int nx, int ny, int x, int y) {
  const int outside = x < 0 || x >= nx || y < 0 || y >= ny;
  if (outside && edges.boundary == DIFFBENCH_DIRICHLET) return (float)edges.boundary_value;
  if (outside && edges.boundary == DIFFBENCH_NEUMANN)
    return u[(y < 0 ? 0 : y < ny ? y : ny - 1) * nx + (x < 0 ? 0 : x < nx ? x : nx - 1)];
  return u[(y + ny) % ny * nx + (x + nx) % nx];
}
int32_t diffbench_boundaries(void) {
  return 1 << DIFFBENCH_PERIODIC | 1 << DIFFBENCH_DIRICHLET | 1 << DIFFBENCH_NEUMANN;
}
#define BX 16""").replace("  s->p = *p;", "  s->p = *p;\n  edges = *p;")

TWO_TYPES = """\
template <typename T>
static void step_of(const T* u, T* out, int nx, int ny, T factor) {
#pragma omp parallel for
  for (int y = 0; y < ny; ++y) {
    for (int x = 0; x < nx; ++x) {
      const int left = (x + nx - 1) % nx, right = (x + 1) % nx;
      const int up = (y + ny - 1) % ny, down = (y + 1) % ny;
      out[y * nx + x] = u[y * nx + x] + factor * (u[up * nx + x] + u[down * nx + x] +
                        u[y * nx + left] + u[y * nx + right] - 4 * u[y * nx + x]);
    }
  }
}
void step(const float* u, float* out, int nx, int ny, float f) { step_of(u, out, nx, ny, f); }
void step(const double* u, double* out, int nx, int ny, double f) { step_of(u, out, nx, ny, f); }
"""

PYTHON = """\
import numpy as np


def step(u, factor):
    lap = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
    return u + factor * lap
"""
PYTHON_SOLVE = PYTHON.replace("def step", "def advance") + """

def solve(u, steps, factor):
    for _ in range(steps):
        u = advance(u, factor)
    return u
"""

# One team of threads for all steps.
REGION = STEP_C[:STEP_C.index("void step")] + """
void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  float* now = malloc(sizeof(float) * nx * ny);
  float* next = malloc(sizeof(float) * nx * ny);
  memcpy(now, in, sizeof(float) * nx * ny);
  #pragma omp parallel
  for (int k = 0; k < steps; ++k) {
    #pragma omp for
    for (int y = 0; y < ny; ++y) for (int x = 0; x < nx; ++x) {
      const int left = (x + nx - 1) % nx, right = (x + 1) % nx, up = (y + ny - 1) % ny, down = (y + 1) % ny;
      next[y * nx + x] = now[y * nx + x] + factor * (now[up * nx + x] + now[down * nx + x] + now[y * nx + left] +
                         now[y * nx + right] - 4 * now[y * nx + x]);
    }
    #pragma omp single
    { float* old = now; now = next; next = old; }
    /* done */
  }
  memcpy(out, now, sizeof(float) * nx * ny);
  free(now);
  free(next);
}
"""

# A step of which what is above `x` is not private to a thread.
SHARED = """\
void step(const float* u, float* out, int nx, int ny, float factor) {
  int x, left, right, up, down;
  float lap;
#pragma omp parallel for private(x, left, right, up, down, lap)
  for (int y = 0; y < ny; ++y) for (x = 0; x < nx; ++x) {
    left = (x + nx - 1) % nx; right = (x + 1) % nx; up = (y + ny - 1) % ny; down = (y + 1) % ny;
    lap = u[up * nx + x] + u[down * nx + x] + u[y * nx + left] + u[y * nx + right] - 4 * u[y * nx + x];
    out[y * nx + x] = u[y * nx + x] + factor * lap;
  }
}
"""

# Each tile makes all steps by itself, and takes what lies beyond it from the first field.
TILES = STEP_C[:STEP_C.index("void step")] + """
void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  for (int y0 = 0; y0 < ny; y0 += BY) for (int x0 = 0; x0 < nx; x0 += BX) {
    float a[BY][BX], b[BY][BX];
    const int w = x0 + BX < nx ? BX : nx - x0, h = y0 + BY < ny ? BY : ny - y0;
    for (int y = 0; y < h; ++y) for (int x = 0; x < w; ++x) a[y][x] = in[(y0 + y) * nx + x0 + x];
    for (int k = 0; k < steps; ++k) {
      for (int y = 0; y < h; ++y) for (int x = 0; x < w; ++x) {
        const int gx = x0 + x, gy = y0 + y;
        const float up = y > 0 ? a[y - 1][x] : HALO(gx, (gy + ny - 1) % ny);
        const float down = y + 1 < h ? a[y + 1][x] : HALO(gx, (gy + 1) % ny);
        const float left = x > 0 ? a[y][x - 1] : HALO((gx + nx - 1) % nx, gy);
        const float right = x + 1 < w ? a[y][x + 1] : HALO((gx + 1) % nx, gy);
        const float lap = up + down + left + right - 4 * a[y][x];
        b[y][x] = a[y][x] + factor * lap;
      }
      memcpy(a, b, sizeof a);
    }
    for (int y = 0; y < h; ++y) for (int x = 0; x < w; ++x) out[(y0 + y) * nx + x0 + x] = a[y][x];
  }
}
"""


def replaced(source, *pairs):
    for old, new in pairs:
        assert old in source, old
        source = source.replace(old, new)
    return source


def with_lap(lap):
    return replaced(STEP_C, (LAP, lap + ";"))


def skipping(condition, otherwise):
    """A step that computes cells for which `condition` holds, and does `otherwise` with the rest."""
    return replaced(STEP_C, (ASSIGN, f"if ({condition}) {ASSIGN} else {{ {otherwise} }}"))


def cheating(text, include=""):
    """A solve that is right, with `text` before everything it does."""
    return include + replaced(SOLVE_C, ("const size_t bytes", f"{text}\n  const size_t bytes"))


INNER = "x > 0 && x < nx - 1 && y > 0 && y < ny - 1"
CORNER = "(x > 0 && x < nx - 1) || (y > 0 && y < ny - 1)"
WHOLE = "x < nx / BX * BX && y < ny / BY * BY"
KEEP = "out[y * nx + x] = u[y * nx + x];"
ZERO = "out[y * nx + x] = 0;"

RIGHT = [
    ("step", "c", STEP_C, SAME, None),
    ("step_plain_pointers", "c", replaced(STEP_C, ("const float* u", "float* u")), SAME, None),
    ("step_double", "c", STEP_C.replace("float", "double"), SAME, None),
    ("step_cpp", "cpp", STEP_C, SAME, None),
    ("step_extern_c", "cpp", 'extern "C" ' + STEP_C[STEP_C.index("void step"):], SAME, None),
    ("step_two_types", "cpp", TWO_TYPES, SAME, None),
    ("solve", "c", SOLVE_C, SAME, None),
    ("solve_double", "c", SOLVE_C.replace("float", "double"), SAME, None),
    ("solve_and_step", "c", SOLVE_C.replace("static void advance", "void step")
     .replace("advance(", "step("), SAME, None),
    ("session", "c", SESSION_C, SAME, None),
    ("session_double", "c", SESSION_C.replace("float", "double").replace("_f32", "_f64"), SAME, None),
    ("session_edges", "c", EDGES_C, SAME, None),
    ("threads", "cpp", "#include <thread>\n#include <vector>\n" + replaced(
        TWO_TYPES, ("#pragma omp parallel for\n  for (int y = 0; y < ny; ++y) {",
                    "std::vector<std::thread> all;\n  for (int half = 0; half < 2; ++half)"
                    " all.emplace_back([=] {\n  for (int y = half; y < ny; y += 2) {"),
        ("    }\n  }\n}\nvoid step(const float", "    }\n  }\n  });\n  for (auto& t : all) t.join();\n}"
         "\nvoid step(const float")), SAME, None),
    # Threads in all ways that wait for one another: none of them races.
    ("region", "c", REGION, SAME, None),
    ("reductions", "c", replaced(REGION, ("#pragma omp for", "#pragma omp for reduction(+ : sum)"), (
        "/* done */", "\n#pragma omp atomic\n  sum += 1;\n#pragma omp critical\n  count++;"), (
        "float* now", "double sum = 0; int count = 0; float* now")), SAME, None),
    ("inline_of_c99", "c", "inline int wrapped(int x, int n) { return (x + n) % n; }\n" + replaced(
        REGION, ("(x + nx - 1) % nx", "wrapped(x - 1, nx)")), SAME, None),
    ("fused", "c", replaced(STEP_C, (ASSIGN, "out[y * nx + x] = fmaf(factor, lap, u[y * nx + x]);")),
     CONTRACTED, None),
    ("other_order", "c", with_lap("u[y * nx + left] + u[y * nx + right] + u[up * nx + x] +"
                                  " u[down * nx + x] - 4 * u[y * nx + x]"), ROUNDING,
     "u + f * (left + right + up + down - 4u)"),
    ("pairs", "c", with_lap("(u[y * nx + left] + u[y * nx + right]) + (u[up * nx + x] +"
                            " u[down * nx + x]) - 4 * u[y * nx + x]"), ROUNDING,
     "u + f * ((up + down) + (left + right) - 4u)"),
    ("by_axis", "c", with_lap("(u[up * nx + x] - 2 * u[y * nx + x] + u[down * nx + x]) +"
                              " (u[y * nx + left] - 2 * u[y * nx + x] + u[y * nx + right])"),
     ROUNDING, "u + f * ((up - 2u + down) + (left - 2u + right))"),
    ("folded", "c", replaced(STEP_C, (LAP, LAP.replace("-\n", "+ 0 *").replace("4 *", "")), (
        ASSIGN, "out[y * nx + x] = (1 - 4 * factor) * u[y * nx + x] + factor * (u[up * nx + x] +"
                " u[down * nx + x] + u[y * nx + left] + u[y * nx + right]);")), ROUNDING,
     "(1 - 4f) * u + f * (up + down + left + right)"),
    ("double_literal", "c", replaced(STEP_C, ("const float lap", "const double lap"),
                                     ("4 * u", "4.0 * u")), ROUNDING,
     "partly in float64: a literal such as 4.0 is a double"),
    ("wide_step", "c", replaced(
        STEP_C, ("const float lap = u[up", "const double lap = (double)u[up"),
        ("4 * u", "4.0 * u"), ("factor * lap", "(double)factor * lap")), ROUNDING,
     "in float64, rounded after each step"),
    ("verbose", "c", "#include <stdio.h>\n" + replaced(
        STEP_C, ("/* first */", 'for (int k = 0; k < 100000; ++k) puts("megabytes of words");')),
     SAME, None),
    # It is no emulated device, whatever it calls its functions.
    ("speaks_as_a_device", "c", STEP_C + 'const char* diffbench_try_findings(void) { return "[{\\"kind\\":'
     ' \\"race\\", \\"message\\": \\"none\\", \\"affects_result\\": true}]"; }\n', SAME, None),
    ("python", "py", PYTHON, SAME, None),
    ("python_solve", "py", PYTHON_SOLVE, SAME, None),
    ("own_clock", "c", "#include <time.h>\nint clock_gettime(clockid_t c, struct timespec* t) {"
     " t->tv_sec = t->tv_nsec = 0; return 0; }\n" + SOLVE_C, SAME, None),
]

MISTAKES = [
    ("edges_zero", "c", with_lap(
        "(y > 0 ? u[up * nx + x] : 0) + (y < ny - 1 ? u[down * nx + x] : 0) + (x > 0 ?"
        " u[y * nx + left] : 0) + (x < nx - 1 ? u[y * nx + right] : 0) - 4 * u[y * nx + x]"),
     WRONG, "edges_zero"),
    ("edges_copied", "c", replaced(
        STEP_C, ("(x + nx - 1) % nx", "(x > 0 ? x - 1 : 0)"), ("(x + 1) % nx", "(x < nx - 1 ? x + 1 : x)"),
        ("(y + ny - 1) % ny", "(y > 0 ? y - 1 : 0)"), ("(y + 1) % ny", "(y < ny - 1 ? y + 1 : y)")),
     WRONG, "edges_copied"),
    ("edges_flat", "c", with_lap(
        "u[up * nx + x] + u[down * nx + x] + u[(y * nx + x + nx * ny - 1) % (nx * ny)] +"
        " u[(y * nx + x + 1) % (nx * ny)] - 4 * u[y * nx + x]"), WRONG, "edges_flat"),
    ("edges_kept", "c", skipping(INNER, KEEP), WRONG, "edges_skipped"),
    ("edges_unwritten", "c", skipping(INNER, ""), WRONG, "edges_skipped"),
    ("edges_set_to_zero", "c", skipping(INNER, ZERO), WRONG, "edges_skipped"),
    ("corners_kept", "c", skipping(CORNER, KEEP), WRONG, "corners_skipped"),
    ("corners_unwritten", "c", skipping(CORNER, ""), WRONG, "corners_skipped"),
    ("last_row", "c", skipping("y < ny - 1", ""), WRONG, "last_row_skipped"),
    ("last_row_kept", "c", skipping("y < ny - 1", KEEP), WRONG, "last_row_skipped"),
    ("last_column", "c", skipping("x < nx - 1", ""), WRONG, "last_column_skipped"),
    ("partial_block", "c", skipping(WHOLE, ""), WRONG, "partial_block"),
    ("partial_block_32x8", "c", skipping(WHOLE, KEEP).replace("BX 16", "BX 32")
     .replace("BY 16", "BY 8"), WRONG, "partial_block"),
    ("partial_block_zero", "c", skipping(WHOLE, ZERO), WRONG, "partial_block"),
    ("in_place", "c", replaced(SOLVE_C, ("advance(now, next, nx, ny, factor);", "advance(now, now, nx, ny,"
                               " factor); memcpy(next, now, bytes);")), WRONG, "in_place"),
    ("not_swapped", "c", replaced(SOLVE_C, ("float* old = now; now = next; next = old;", ""),
                                  ("memcpy(out, now", "memcpy(out, next")), WRONG, "not_swapped"),
    ("even_buffer", "c", replaced(SOLVE_C, ("memcpy(out, now", "memcpy(out, steps % 2 ? now : next")),
     WRONG, "even_buffer"),
    ("odd_buffer", "c", replaced(SOLVE_C, ("memcpy(out, now", "memcpy(out, steps % 2 ? next : now")),
     WRONG, "odd_buffer"),
    ("step_too_few", "c", replaced(SOLVE_C, ("k < steps", "k < steps - 1")), WRONG, "step_too_few"),
    ("step_too_many", "c", replaced(SOLVE_C, ("k < steps", "k <= steps")), WRONG, "step_too_many"),
    ("nothing_done", "c", replaced(SOLVE_C, ("k < steps", "k < 0")), WRONG, "nothing_done"),
    ("nothing_written", "c", replaced(SOLVE_C, ("memcpy(out, now, bytes);", "")), WRONG,
     "nothing_written"),
    ("exchanged", "c", replaced(STEP_C, ("/* first */", "const int t = nx; nx = ny; ny = t;")), WRONG,
     "exchanged"),
    ("factor_twice", "c", replaced(STEP_C, ("factor * lap", "factor * factor * lap")), WRONG,
     "factor_twice"),
    ("factor_missing", "c", replaced(STEP_C, ("factor * lap", "lap")), WRONG, "factor_missing"),
    ("factor_half", "c", replaced(STEP_C, ("factor * lap", "0.5f * factor * lap")), WRONG,
     "factor_wrong"),
    ("factor_four", "c", replaced(STEP_C, ("factor * lap", "4 * factor * lap")), WRONG, "factor_wrong"),
    ("sign", "c", replaced(STEP_C, ("+ factor * lap", "- factor * lap")), WRONG, "sign"),
    ("centre_missing", "c", replaced(STEP_C, ("4 * u", "0 * u")), WRONG, "centre_missing"),
    ("centre_two", "c", replaced(STEP_C, ("4 * u", "2 * u")), WRONG, "centre_wrong"),
    ("right_missing", "c", replaced(STEP_C, ("u[y * nx + right] -", "0 -")), WRONG,
     "neighbour_missing"),
    ("left_twice", "c", replaced(STEP_C, ("u[y * nx + right] -", "u[y * nx + left] -")), WRONG,
     "neighbour_twice"),
    ("up_twice", "c", replaced(STEP_C, ("u[down * nx + x]", "u[up * nx + x]")), WRONG,
     "neighbour_twice"),
    ("tile_halo_stale", "c", "#define HALO(x, y) in[(y) * nx + (x)]\n" + TILES, WRONG, "tile_halo"),
    ("tile_halo_zero", "c", "#define HALO(x, y) 0\n" + TILES.replace("BX 16", "BX 32")
     .replace("BY 16", "BY 8"), WRONG, "tile_halo"),
    ("tile_halo_copied", "c", "#define HALO(x, y) a[gy - y0][gx - x0]\n" + replaced(
        TILES, ("HALO(gx, (gy + ny - 1) % ny)", "a[y][x]"), ("HALO(gx, (gy + 1) % ny)", "a[y][x]"),
        ("HALO((gx + nx - 1) % nx, gy)", "a[y][x]"), ("HALO((gx + 1) % nx, gy)", "a[y][x]")), WRONG,
     "tile_halo"),
    ("python_edges", "py", replaced(PYTHON, (
        "np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)",
        "p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]"),
        ("    lap", "    p = np.pad(u, 1, mode='edge')\n    lap")), WRONG, "edges_copied"),
    ("python_float16", "py", replaced(PYTHON, ("return u + factor * lap",
                                               "return (u + factor * lap).astype(np.float16)")), WRONG,
     "says: returned float16"),
    ("edges_promised", "c", SESSION_C + "int32_t diffbench_boundaries(void) { return 5; }\n", WRONG,
     "says: with neumann edges it computes periodic ones"),
    ("edges_constant", "c", replaced(EDGES_C, ("return (float)edges.boundary_value", "return 0")), WRONG,
     "says: with dirichlet edges cells are wrong"),
    ("nine_points", "c", with_lap("u[up * nx + x] + u[down * nx + left] + u[y * nx + left] +"
                                  " u[y * nx + right] - 4 * u[y * nx + x]"), WRONG, None),
    ("tile_columns", "c", replaced(STEP_C, (ASSIGN, "out[y * nx + x] = u[y * nx + x] + (x % 8 == 5 ? 1.5f : 1) *"
                                             " factor * lap;")), WRONG, None),
    ("nan_edge", "c", skipping("x < 5", "out[y * nx + x] = NAN;"), WRONG, None),
    ("beyond_the_end", "c", replaced(STEP_C, ("/* first */", "out[nx * ny] = 1;")), WRONG,
     "says: it wrote outside of the output, 1 cells behind its end"),
    ("before_the_start", "c", replaced(STEP_C, ("/* first */", "out[-2] = 1;")), WRONG,
     "says: it wrote outside of the output, 2 cells before its start"),
    ("null", "c", replaced(STEP_C, ("/* first */", "out = 0;")), WRONG, "says: segmentation fault"),
    ("division", "c", replaced(STEP_C, ("/* first */", "volatile int zero = 0; nx /= zero;")),
     WRONG, "says: divided by 0"),
    ("endless", "c", replaced(STEP_C, ("/* first */", "for (volatile int k = 0;;) k = 1;")), WRONG,
     "says: did not come back within 2 s"),
    ("leaves", "c", replaced(STEP_C, ("/* first */", "exit(0);")), WRONG, "says: ended with status 0"),
    ("greedy", "c", replaced(STEP_C, ("/* first */", "void* volatile all = malloc(1ul << 40); if (!all) exit(4);")),
     WRONG, "says: ended with status 4"),
]

# Wrong with several threads alone, in any order alone, or for some numbers alone.
RACE_SAYS = "says: its threads race"
PRIVATE = ("x", "left", "right", "up", "down", "lap")
RACES = [("race_" + name, "c", replaced(SHARED, (f"private({', '.join(PRIVATE)})", "private(" + ", ".join(
    other for other in PRIVATE if other != name) + ")")), WRONG, RACE_SAYS) for name in ("lap", "x", "left", "up")] + [
    ("race_" + name, "c", replaced(REGION, pair), WRONG, "*") for name, pair in (
        ("no_wait", ("omp for", "omp for nowait")), ("swapped_early", ("omp single", "omp single nowait")),
        ("master", ("omp single", "omp master")))]
NUMBERS = [(f"numbers_{k}", "c", replaced(STEP_C, ("u[y * nx + x] + factor * lap", text.replace(
    "V", "(u[y * nx + x] + factor * lap)"))), WRONG, detail) for k, (text, detail) in enumerate([
        ("fminf(1, fmaxf(0, V))", "says: with numbers below 0"), ("V < 0 ? 0 : V", "says: with numbers below 0"),
        ("V > 1 ? 1 : V", "says: with numbers of both signs"), ("fabsf(V) < 1e-6f ? 0 : V", "says: with tiny numbers"),
        ("V > 1e20f ? 0 : V", "says: with large numbers"), ("fabsf(V)", "says: with numbers below 0"),
        ("u[y * nx + x] + (factor > 0.24f ? 0.24f : factor) * lap", "*"),
        ("u[y * nx + x] + (factor < 0.09f ? 0.09f : factor) * lap", "*")])]
GUARDS = [("guards_" + name, "c", replaced(STEP_C, ("/* first */", text)), WRONG, f"says: it wrote outside of {where}")
          for name, text, where in (
              ("row_behind", "memcpy(out, u, sizeof(float) * nx * (ny + 1));", "the output"),
              ("row_before", "memcpy(out - nx, u - nx, sizeof(float) * nx * ny);", "the output"),
              ("shifted", "out[nx * ny] = out[nx * ny + 1];", "the output"),
              ("input", "((float*)u)[nx * ny] = out[nx * ny];", "the input"))]

DISTURBS = """\
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef VICTIM
#define VICTIM getppid()
#define MAY_BE_ALONE  /* then nobody is there to be slowed down but the sandbox's own first process */
#endif
static void disturb(pid_t victim) {
  char info[128] = {0};
  *(int*)info = SIGURG;
  *(int*)(info + 8) = SI_QUEUE;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  struct rlimit all;
  struct sched_param parameters = {0};
  struct { unsigned size, policy; unsigned long flags; int nice; unsigned priority; unsigned long times[3]; }
      attributes = {48, 0, 0, 5, 0, {0}};
  int pipe_ends[2];
  if (pipe(pipe_ends)) exit(4);
  const long done[] = {
      kill(victim, SIGURG), syscall(SYS_tkill, victim, SIGURG), syscall(SYS_tgkill, victim, victim, SIGURG),
      syscall(SYS_rt_sigqueueinfo, victim, SIGURG, info),
      syscall(SYS_rt_tgsigqueueinfo, victim, victim, SIGURG, info),
#ifndef MAY_BE_ALONE
      sched_setaffinity(victim, sizeof one, &one),
#endif
      syscall(SYS_prlimit64, victim, RLIMIT_NOFILE, 0, &all),
      sched_setscheduler(victim, SCHED_BATCH, &parameters), syscall(SYS_sched_setattr, victim, &attributes, 0),
      setpriority(PRIO_PROCESS, victim, 19), setpriority(PRIO_USER, 0, 19),
      syscall(SYS_ioprio_set, 1, victim, 2 << 13 | 7), syscall(SYS_move_pages, victim, 0, 0, 0, 0, 0),
      syscall(SYS_pidfd_open, victim, 0), syscall(SYS_kcmp, victim, getpid(), 0, 0, 0),
      syscall(SYS_shmctl, 0, 13, info), syscall(SYS_msgctl, 0, 11, info), prctl(PR_SET_PDEATHSIG, 0),
      fcntl(pipe_ends[0], F_SETOWN, victim), fchmod(open("/proc/self/exe", O_RDONLY), 0)};
  for (unsigned k = 0; k < sizeof done / sizeof *done; ++k) if (done[k] >= 0) exit(10 + k);
  exit(3);
}
"""
READS = """\
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifndef SECRET
#define SECRET __FILE__
#endif
static void look_at(const char* name) {
  char byte;
  const int file = open(name, O_RDONLY);
  exit(file >= 0 && pread(file, &byte, 1, 4096) >= 0 ? 9 : 3);
}
"""

CHEATS = [
    # The result of the first call with a shape, again.
    ("replayed", "c", replaced(SOLVE_C, (
        "const size_t bytes", "static float kept[257 * 257]; static int old_nx, old_ny;\n  const size_t"
        " bytes"), ("memcpy(now, in, bytes);", "memcpy(now, in, bytes);\n  if (nx == old_nx && ny =="
        " old_ny) { memcpy(out, kept, bytes); return; }"), (
        "memcpy(out, now, bytes);", "memcpy(out, now, bytes); memcpy(kept, now, bytes); old_nx = nx;"
        " old_ny = ny;")), WRONG, "says: the result of an earlier run"),
    # The same of all that it is told but the field.
    ("replayed_alike", "c", replaced(SOLVE_C, (
        "const size_t bytes", "static struct { int nx, ny, steps; float factor, *cells; } kept[999]; static int known;\n"
        "  for (int k = 0; k < known; ++k) if (kept[k].nx == nx && kept[k].ny == ny && kept[k].steps == steps &&"
        " kept[k].factor == factor) {\n    memcpy(out, kept[k].cells, sizeof(float) * nx * ny);\n    return;\n  }\n"
        "  const size_t bytes"), (
        "free(next);", "kept[known].nx = nx; kept[known].ny = ny; kept[known].steps = steps; kept[known].factor = factor;"
        " memcpy(kept[known++].cells = next, out, bytes);")), WRONG, "says: the result of an earlier run"),
    ("input_zeroed", "c", cheating("memset((float*)in, 0, sizeof(float) * nx * ny); memset(out, 0,"
                                   " sizeof(float) * nx * ny); return;"), WRONG,
     "says: changes its input"),
    ("all_nan", "c", cheating("for (int k = 0; k < nx * ny; ++k) out[k] = NAN; return;"), WRONG, None),
    # A thread goes on with the work after the function has returned.
    ("later", "cpp", "#include <thread>\n#include <chrono>\n" + TWO_TYPES[:TWO_TYPES.index("void step(const float")]
     + """void step(const float* u, float* out, int nx, int ny, float f) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    step_of(u, out, nx, ny, f);
  }).detach();
}
""", WRONG, "*"),
    # Answers in the parent's place, on every descriptor that is open.
    ("forged_answer", "c", cheating("for (int k = 3; k < 64; ++k) if (write(k, \"done\\n\", 5) < 0)"
                                    " continue; sleep(1);", "#include <unistd.h>\n"), WRONG, "*"),
    # What would be right for the fields that the program itself begins with.
    ("guessed_input", "c", replaced(SOLVE_C, ("memcpy(now, in, bytes);", "for (int y = 0; y < ny; ++y) for (int x = 0;"
     " x < nx; ++x) now[y * nx + x] = x >= 4 * nx / 10 && x < nx / 2 && y >= 4 * ny / 10 && y < ny / 2 ? 0.005f : 0;")),
     WRONG, None),
    # It prints a verdict of its own, and replaces what would run it.
    ("patched_stdout", "py", PYTHON + """

import os, sys
print("float32  the same bits")
for k in (1, 2):
    os.write(k, b"done\\nfloat32  the same bits\\n")
sys.stdout = sys.stderr
sys.modules["__main__"].Session.run = lambda *_: None
""", WRONG, "nothing_written"),
    ("fewer_steps", "c", replaced(SOLVE_C, ("k < steps", "k < (steps > 50 ? 50 : steps)")), WRONG, None),
    # What it may not do fails, and the result is that failure.
    ("forks", "c", cheating("if (fork() >= 0) memset(out, 0, 4 * nx * ny); else exit(3);",
                            "#include <unistd.h>\n"), WRONG, "says: ended with status 3"),
    ("deletes", "c", cheating("if (unlink(\"submission.so\") == 0 || fopen(\"left.txt\", \"w\"))"
                              " return; exit(3);", "#include <stdio.h>\n#include <unistd.h>\n"), WRONG,
     "says: ended with status 3"),
    ("network", "c", cheating("if (socket(AF_INET, SOCK_STREAM, 0) >= 0) return; exit(3);",
                              "#include <sys/socket.h>\n"), WRONG, "says: ended with status 3"),
    ("kills_parent", "c", cheating("if (kill(getppid(), 9) == 0) return; exit(3);",
                                   "#include <signal.h>\n#include <unistd.h>\n"), WRONG,
     "says: ended with status 3"),
    ("reads_parent", "c", "#define _GNU_SOURCE\n" + cheating(
        "char byte; struct iovec to = {&byte, 1}, from = {(void*)&steps, 1};\n"
        "  if (process_vm_readv(getppid(), &to, 1, &from, 1, 0) > 0) return; exit(3);",
        "#include <sys/uio.h>\n#include <unistd.h>\n"), WRONG, "says: ended with status 3"),
    ("looks_into", "c", cheating("if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) return; exit(3);",
                                 "#include <sys/ptrace.h>\n#include <unistd.h>\n"), WRONG,
     "says: ended with status 3"),
    # Of VICTIM, a process of the same user: it is signalled, slowed down, limited; status 10 and more: which way.
    ("disturbs_others", "c", DISTURBS + cheating("disturb(VICTIM);"), WRONG, "says: ended with status 3"),
    # A file of the user's, the parent's memory.
    ("reads_file", "c", READS + cheating("look_at(SECRET);"), WRONG, "says: ended with status 3"),
    ("reads_memory", "c", READS + cheating('char name[64]; sprintf(name, "/proc/%d/mem", (int)getppid());'
                                           " look_at(name);"), WRONG, "says: ended with status 3"),
]

# Right where they are judged, and not where they are timed: there with 64 x 64 cells.
TIMED_CHEATS = [
    ("replayed", cheating("static float kept[64 * 64]; static int times; if (nx == 64 && ny == 64 && times++ > 1) {"
                          " memcpy(out, kept, sizeof kept); return; }").replace(
        "memcpy(out, now, bytes);", "memcpy(out, now, bytes); if (nx == 64 && ny == 64) memcpy(kept, now, bytes);")),
    # A thread that goes on after the function has returned.
    ("later", "#include <pthread.h>\n#include <unistd.h>\n" + SOLVE_C.replace("void solve", "static void all") + """
struct work { const float* in; float* out; int nx, ny, steps; float factor; };
static void* go_on(void* all_of_it) {
  const struct work* w = all_of_it;
  usleep(20000);
  all(w->in, w->out, w->nx, w->ny, w->steps, w->factor);
  return 0;
}
void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  static struct work w;
  pthread_t thread;
  w = (struct work){in, out, nx, ny, steps, factor};
  if (nx != 64 || ny != 64 || pthread_create(&thread, 0, go_on, &w)) all(in, out, nx, ny, steps, factor);
}
"""),
]
# It has a clock of its own, which stands still, and takes 1 ms a step.
STOPPED_CLOCK = """\
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t c, struct timespec* t) { t->tv_sec = t->tv_nsec = 0; return 0; }
int gettimeofday(struct timeval* t, void* zone) { t->tv_sec = t->tv_usec = 0; return 0; }
""" + cheating("usleep(1000 * steps);")

# Right bits and a race, which is hidden: what looks for it is replaced, silenced or begun anew. The detail is
# what is said of it.
RACE = """\
__device__ int seen;
__device__ void note() { seen = 1; }
__global__ void advance(const float* u, float* out, int nx, int ny, float factor) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  note();
  const float up = u[(y + ny - 1) % ny * nx + x], down = u[(y + 1) % ny * nx + x];
  const float left = u[y * nx + (x + nx - 1) % nx], right = u[y * nx + (x + 1) % nx];
  out[y * nx + x] = u[y * nx + x] + factor * (up + down + left + right - 4 * u[y * nx + x]);
}
void solve(const float* in, float* out, int nx, int ny, int steps, float factor) {
  const size_t bytes = sizeof(float) * nx * ny;
  float *a, *b;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMemcpy(a, in, bytes, cudaMemcpyHostToDevice);
  for (int k = 0; k < steps; ++k) {
    advance<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)>>>(a, b, nx, ny, factor);
    float* old = a; a = b; b = old;
  }
  cudaMemcpy(out, a, bytes, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  /* last */
}
"""
FORGE = 'extern "C" const char* diffbench_try_findings() { return "[]"; }\n'
BLIND = 'extern "C" __attribute__((visibility("hidden"))) void __tsan_write4(void*) {}\n'
CUDA_CHEATS = [
    ("forged_findings", FORGE + RACE, ":1: diffbench_try_findings"),
    ("forged_counts", 'extern "C" const char* diffbench_try_counts() { return "{}"; }\n' + RACE,
     ":1: diffbench_try_counts"),
    ("begun_anew", replaced(RACE, ("/* last */", "diffbench_try_reset(1);")), ":24: diffbench_try_reset"),
    ("its_namespace", "#include <emulation/control.hpp>\n" + replaced(
        RACE, ("/* last */", "diffbench::emulation::reset();")), ":25: diffbench"),
    ("as_a_system_header", '# 1 "/usr/include/own.h" 1 3\n' + FORGE + '# 2 "own.cu" 2\n' + RACE,
     ":1: a line marker"),
    ("as_a_system_header_behind_a_comment", '/* of\n two */ # /**/ \\\n1 "/usr/include/own.h" 1 3\n' + FORGE +
     '# 2 "own.cu" 2\n' + RACE, ":1: a line marker"),
    ("as_a_system_header_by_pragma", '#pragma GCC system_header\n' + FORGE + RACE, ":1: system_header"),
    ("called_by_address", "#include <dlfcn.h>\n" + replaced(
        RACE, ("/* last */", 'void* lib = dlopen("libdiffbench_emulated_cuda.so", RTLD_NOW);\n'
               '  ((void (*)(unsigned long))dlsym(lib, "diffbench_try_reset"))(1);')), "race in "),
    ("begun_anew_by_a_thread", "#include <dlfcn.h>\n#include <pthread.h>\n" + replaced(
        RACE, ("/* last */", 'void* lib = dlopen("libdiffbench_emulated_cuda.so", RTLD_NOW);\n  pthread_t thread;\n'
               '  pthread_create(&thread, 0, (void* (*)(void*))dlsym(lib, "diffbench_try_reset"), (void*)1);\n'
               "  pthread_join(thread, 0);")), "race in "),
    ("overwritten", "#include <stdlib.h>\n#include <unistd.h>\n" + replaced(
        RACE, ("/* last */", 'pwrite(atoi(getenv("DIFFBENCH_TRY_FINDINGS_FD")), "x", 1, 0);')), "race in "),
    ("its_variable", 'extern "C" { bool _ZN9diffbench9emulation12RaceDetector8enabled_E = true; }\n' + replaced(
        RACE, ("/* last */", "_ZN9diffbench9emulation12RaceDetector8enabled_E = false;")),
     "_ZN9diffbench9emulation12RaceDetector8enabled_E"),
    ("as_a_system_header_behind_blanks", '# \\ \n1 "/usr/include/own.h" 1 3\n' + FORGE + '# 2 "own.cu" 2\n' + RACE,
     ":1: a line marker"),
    ("as_a_system_header_behind_a_mark", '\ufeff# 1 "/usr/include/own.h" 1 3\n' + FORGE + '# 2 "own.cu" 2\n' + RACE,
     ":1: a line marker"),
    ("as_a_system_header_by_macro", "#define P(x) _Pragma(#x)\nP(GCC system_header)\n" + FORGE + RACE,
     ":2: system_header"),
    ("blind_detector", BLIND + RACE, ":1: __tsan_write4"),
    ("blind_by_another_name", "#define JOINED(a, b) a##b\n" + BLIND.replace("__tsan_write4", "JOINED(__ts, an_write4)")
     + RACE, ":2: __tsan_write4"),
    ("begun_anew_by_pragma", "#pragma redefine_extname anew diffbench_try_reset\n"
     'extern "C" void anew(unsigned long);\n' + replaced(RACE, ("/* last */", "anew(1);")), "diffbench_try_reset"),
    ("not_watched_by_pragma", '#pragma clang attribute push(__attribute__((no_sanitize("thread"))), apply_to=function)'
     "\n" + RACE, ":1: this pragma"),
    ("not_watched", replaced(RACE, ("__device__ void note", "__attribute__((no_sanitize_thread)) __device__ void"
                                    " note")), ":2: no_sanitize_thread"),
    ("own_copies", replaced(RACE, ("__device__ int seen;", "__device__ int seen; extern \"C\" cudaError_t"
                                   " cudaFree(void*) { return cudaSuccess; }")), "cudaFree"),
]
