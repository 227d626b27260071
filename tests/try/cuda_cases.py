# SPDX-License-Identifier: Apache-2.0
"""Users' .cu files beside the edges of what try says of them: right ones that look wrong, wrong ones that look right,
and the reason of what is wrong. CASES: name: (what is expected, source), of which
  "right", "wrong"          is the verdict,
  "kind:FINDING"            the verdict is wrong, and the finding is the headline,
  "only:FINDING"            there is no other finding,
  "mistake:ID"              the verdict is wrong, by this mistake,
  "copies:N"                it is right, with so many copies a step,
  "says: TEXT"              a finding's message, or what is refused, has the text."""
STENCIL = "u[y * nx + x] + f * (u[(y + ny - 1) % ny * nx + x] + u[(y + 1) % ny * nx + x] + u[y * nx + (x + nx - 1) % nx] + u[y * nx + (x + 1) % nx] - 4 * u[y * nx + x])"
def reduce_file(device, use="", t="double", note="", shared="", m="double"):
    return f"""#include <cuda_runtime.h>
{device}
__global__ void heat(const {t}* u, {t}* out, int nx, int ny, {t} f, {m}* m) {{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
{shared}
  if (x < nx && y < ny) {{
    {t} n = {STENCIL};
    out[y * nx + x] = n;
    {use or f'note(m, fabs(n - u[y * nx + x]));'}
  }}
}}
void solve(const {t}* in, {t}* out, int nx, int ny, int steps, {t} f) {{
  {t} *a, *b; {m}* m; size_t n = sizeof({t}) * nx * ny;
  cudaMalloc(&a, n); cudaMalloc(&b, n); cudaMalloc(&m, 8); cudaMemset(m, 0, 8); cudaMemcpy(a, in, n, cudaMemcpyHostToDevice);
  for (int i = 0; i < steps; i++) {{ heat<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)>>>(a, b, nx, ny, f, m); {t}* s = a; a = b; b = s; }}
  cudaMemcpy(out, a, n, cudaMemcpyDeviceToHost); cudaFree(a); cudaFree(b); cudaFree(m);
}}
"""
ULL = "unsigned long long int"
def cas(body): return f"__device__ void note(double* m, double v) {{ {ULL}* p = ({ULL}*)m; {body} }}"
CASES = {}
CASES["max"] = ("right", reduce_file(cas(f"{ULL} old = *p, assumed; do {{ assumed = old; old = atomicCAS(p, assumed, __double_as_longlong(fmax(v, __longlong_as_double(assumed)))); }} while (assumed != old);")))
CASES["filter"] = ("right", reduce_file(cas(f"if (*m >= v) return; {ULL} old = *p; while (__longlong_as_double(old) < v) {{ {ULL} seen = atomicCAS(p, old, __double_as_longlong(v)); if (seen == old) break; old = seen; }}")))
CASES["reread"] = ("right", reduce_file(cas(f"{ULL} seen; do {{ seen = *(volatile {ULL}*)p; }} while (atomicCAS(p, seen, __double_as_longlong(v + __longlong_as_double(seen))) != seen);")))
CASES["float"] = ("right", reduce_file("__device__ void note(float* m, float v) { int* p = (int*)m; int old = *p, assumed; do { assumed = old; old = atomicCAS(p, assumed, __float_as_int(fminf(-v, __int_as_float(assumed)))); } while (assumed != old); }", t="float", m="float"))
CASES["shared"] = ("right", reduce_file(cas(f"{ULL} old = *p, assumed; do {{ assumed = old; old = atomicCAS(p, assumed, __double_as_longlong(v + __longlong_as_double(assumed))); }} while (assumed != old);"),
   shared="  __shared__ double s; if (threadIdx.x == 0 && threadIdx.y == 0) s = 0; __syncthreads();", use="note(&s, n);"))
CASES["plain"] = ("kind:race", reduce_file("__device__ void note(double* m, double v) { if (*m < v) *m = v; }"))
CASES["exch"] = ("kind:race", reduce_file(cas(f"if (__longlong_as_double(*p) < v) atomicExch(p, ({ULL})__double_as_longlong(v));")))
CASES["reads"] = ("kind:race", reduce_file(cas(f"{ULL} old = *p, assumed; do {{ assumed = old; old = atomicCAS(p, assumed, __double_as_longlong(fmax(v, __longlong_as_double(assumed)))); }} while (assumed != old);"), use="note(m, fabs(n - u[y * nx + x]));\n    if (x == 3) out[y * nx + x] += 0 * *m;"))
# 2b
def padded(heat_extra="", copy="", barrier="__syncthreads();", upload="cudaMemcpy2D(a + w + 1, w * 4, in, nx * 4, nx * 4, ny, cudaMemcpyHostToDevice);", guard="x0 + x < w - 1 && y0 + y < h - 1", lap="t[y][x] + f * (t[y - 1][x] + t[y + 1][x] + t[y][x - 1] + t[y][x + 1] - 4 * t[y][x])", load="t[i / 18][i % 18] = u[y * w + x];", halo="u[i + 1] = u[ny * w + i + 1]; u[(ny + 1) * w + i + 1] = u[w + i + 1];"):
    return f"""#include <cuda_runtime.h>
__global__ void heat(const float* u, float* v, int w, int h, float f) {{
  __shared__ float t[18][18];
  int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {{ int x = x0 + i % 18, y = y0 + i / 18; if (x < w && y < h) {load} }}
  {barrier}
  int x = threadIdx.x + 1, y = threadIdx.y + 1;
  if ({guard}) v[(y0 + y) * w + x0 + x] = {lap};
}}
__global__ void halo(float* u, int nx, int ny) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x, w = nx + 2;
  if (i < nx) {{ {halo} }}
  if (i < ny) {{ u[(i + 1) * w] = u[(i + 1) * w + nx]; u[(i + 1) * w + nx + 1] = u[(i + 1) * w + 1]; }}
}}
{heat_extra}
void solve(const float* in, float* out, int nx, int ny, int steps, float f) {{
  int w = nx + 2, h = ny + 2; size_t n = sizeof(float) * w * h; float *a, *b; cudaMalloc(&a, n); cudaMalloc(&b, n);
  {upload}
  for (int k = 0; k < steps; k++) {{ halo<<<((nx > ny ? nx : ny) + 255) / 256, 256>>>(a, nx, ny); heat<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)>>>(a, b, w, h, f); {copy or 'float* t = a; a = b; b = t;'} }}
  cudaMemcpy2D(out, nx * 4, a + w + 1, w * 4, nx * 4, ny, cudaMemcpyDeviceToHost); cudaFree(a); cudaFree(b);
}}
"""
CASES["corner"] = ("right", padded())
CASES["kernelcopy"] = ("right", padded("__global__ void copy(float* a, const float* b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = b[i]; }", "copy<<<(w * h + 255) / 256, 256>>>(a, b, w * h);"))
CASES["zero_times"] = ("kind:uninitialized", padded(lap="t[y][x] + f * (t[y - 1][x] + t[y + 1][x] + t[y][x - 1] + t[y][x + 1] - 4 * t[y][x]) + 1e-3f * t[0][0]"))
CASES["compare"] = ("kind:uninitialized", padded(lap="t[y][x] + f * (t[y - 1][x] + t[y + 1][x] + t[y][x - 1] + t[y][x + 1] - 4 * t[y][x]) + (u[0] > 0.5f ? 1.0f : 0.0f)"))
CASES["no_barrier"] = ("kind:race", padded(barrier=""))
CASES["no_halo_row"] = ("kind:uninitialized", padded(halo="u[i + 1] = u[ny * w + i + 1];"))
CASES["no_upload"] = ("kind:uninitialized", padded(upload=""))
CASES["whole_down"] = ("right", padded().replace("cudaMemcpy2D(out, nx * 4, a + w + 1, w * 4, nx * 4, ny, cudaMemcpyDeviceToHost);", "float* p = (float*)malloc(n); cudaMemcpy(p, a, n, cudaMemcpyDeviceToHost); for (int y = 0; y < ny; y++) for (int x = 0; x < nx; x++) out[y * nx + x] = p[(y + 1) * w + x + 1]; free(p);"))
# 3b
def simple(launch, kernel=None, pre="", kparams="const float* u, float* out, int nx, int ny, float f", kargs="a, b, nx, ny, f", index="int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;"):
    kernel = kernel or f"__global__ void heat({kparams}) {{ {index} if (x < nx && y < ny) out[y * nx + x] = {STENCIL}; }}"
    return f"""#include <cuda_runtime.h>
{kernel}
void solve(const float* in, float* out, int nx, int ny, int steps, float f) {{
  float *a, *b; size_t n = sizeof(float) * nx * ny;
  cudaMalloc(&a, n); cudaMalloc(&b, n); cudaMemcpy(a, in, n, cudaMemcpyHostToDevice);
  {pre}
  for (int i = 0; i < steps; i++) {{ {launch.replace('ARGS', kargs)} float* t = a; a = b; b = t; }}
  cudaMemcpy(out, a, n, cudaMemcpyDeviceToHost); cudaFree(a); cudaFree(b);
}}
"""
G = "dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)"
CASES["rows"] = ("kind:launch_refused", simple("heat<<<ny, nx>>>(ARGS);", index="int x = threadIdx.x, y = blockIdx.x;"))
CASES["grid_y"] = ("kind:launch_refused", simple("heat<<<dim3(1, (nx * ny + 31) / 32), 32>>>(ARGS);", index="int i = blockIdx.y * 32 + threadIdx.x, x = i % nx, y = i / nx;"))
CASES["shared_bytes"] = ("kind:launch_refused", simple("heat<<<ny, 256, nx * 32>>>(ARGS);", kernel=f"__global__ void heat(const float* u, float* out, int nx, int ny, float f) {{ int y = blockIdx.x; for (int x = threadIdx.x; x < nx; x += 256) out[y * nx + x] = {STENCIL}; }}"))
CASES["short"] = ("wrong", simple(f"heat<<<{G}>>>(ARGS);", index="short x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; short i = y * nx + x;").replace("out[y * nx + x] =", "out[i] ="))
# 4
CASES["none"] = ("mistake:nothing_written", "void solve(const float* in, float* out, int nx, int ny, int steps, float f) {}\n")
CASES["not_back"] = ("mistake:nothing_written", simple(f"heat<<<{G}>>>(ARGS);").replace("cudaMemcpy(out, a, n, cudaMemcpyDeviceToHost);", ""))
CASES["kernel_never"] = ("kind:uninitialized", simple(""))
CASES["no_dynamic"] = ("says: the launch gives none", simple(f"heat<<<{G}>>>(ARGS);", kernel=f"extern __shared__ float s[];\n__global__ void heat(const float* u, float* out, int nx, int ny, float f) {{ int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; s[threadIdx.y * 16 + threadIdx.x] = f; if (x < nx && y < ny) out[y * nx + x] = {STENCIL}; }}"))
CASES["shfl"] = ("says: __shfl_sync", simple(f"heat<<<{G}>>>(ARGS);", index="int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; f = __shfl(f, 0);"))
CASES["thread_sync"] = ("says: cudaDeviceSynchronize", simple(f"heat<<<{G}>>>(ARGS); cudaThreadSynchronize();"))
CASES["texture"] = ("says: cudaTextureObject_t", "texture<float> tex;\n" + simple(f"heat<<<{G}>>>(ARGS);"))
# 2e
K = f"__global__ void heat(const float* u, float* out, int nx, int ny, float f) {{ int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; if (x < nx && y < ny) out[y * nx + x] = {STENCIL}; }}"
CASES["table"] = ("right", simple(f"table[0][i % 2]<<<{G}>>>(ARGS);", kernel=K, pre="void (*table[1][2])(const float*, float*, int, int, float) = {{heat, heat}};"))
CASES["inline_ns"] = ("right", simple(f"a::heat<<<{G}, 1024>>>(ARGS);", kernel="namespace a::inline b { extern __shared__ float s[]; " + K.replace("if (x <", "s[threadIdx.y * 16 + threadIdx.x] = f; if (x <") + " }").replace("a::heat", "::a::heat"))
CASES["attr_ns"] = ("right", simple(f"z::heat<<<{G}, 1024>>>(ARGS);", kernel="namespace [[deprecated]] z { extern __shared__ float s[]; " + K.replace("if (x <", "s[threadIdx.y * 16 + threadIdx.x] = f; if (x <") + " }"))
CASES["const_int"] = ("right", simple(f"heat<<<{G}>>>(ARGS);", kernel="__device__ const int N = 16;\n" + K.replace("if (x <", "__shared__ float s[N][N]; s[threadIdx.y][threadIdx.x] = f; if (x <")))
CASES["const_table"] = ("right", simple(f"heat<<<{G}>>>(ARGS);", kernel="__constant__ const float c[2] = {4.0f, 1.0f}; __device__ int calls;\n" + K.replace("4 * u", "c[0] * u").replace("if (x <", "if (x == 0 && y == 0) calls = 1; if (x <")))
CASES["pointer_const"] = ("right", simple(f"set<<<1, 1>>>(a); heat<<<{G}>>>(ARGS);", kernel="__device__ float const* src; __device__ int other; __global__ void set(const float* p) { src = p; }\n" + K.replace("float f) {", "float f) { u = src;")))
CASES["fp"] = ("right", simple(f"heat<<<{G}>>>(ARGS);", kernel="__device__ float four(float x) { return 4 * x; }\n__device__ float (*fp)(float) = four;\n" + K.replace("4 * u[y * nx + x]", "fp(u[y * nx + x])")))
CASES["symbol"] = ("copies:0", simple(f"cudaMemcpyToSymbol(p, &f, 4); heat<<<{G}>>>(ARGS);", kernel="__constant__ float p;\n" + K.replace("float f) {", "float) { float f = p;")).replace("a, b, nx, ny, f)", "a, b, nx, ny, f)"))
CASES["residual"] = ("copies:0", simple(f"cudaMemset(r, 0, 4); heat<<<{G}>>>(ARGS); float h; cudaMemcpy(&h, r, 4, cudaMemcpyDeviceToHost);", kernel=K.replace("float f)", "float f, float* r)").replace("if (x <", "if (x == 0 && y == 0) *r = 1; if (x <"), kargs="a, b, nx, ny, f, r", pre="float* r; cudaMalloc(&r, 4);").replace("cudaFree(b);", "cudaFree(b); cudaFree(r);"))
CASES["field_copy"] = ("copies:2", simple(f"cudaMemcpy(a, h, n, cudaMemcpyHostToDevice); heat<<<{G}>>>(ARGS); cudaMemcpy(h, b, n, cudaMemcpyDeviceToHost);", kernel=K, pre="float* h = (float*)malloc(n); memcpy(h, in, n);").replace("cudaFree(b);", "cudaFree(b); free(h);"))
CASES["const_ptr_const"] = ("right", simple(f"heat<<<{G}>>>(ARGS);", kernel="__constant__ float four = 4; __device__ const float* const fours[1] = {&four}; __device__ int q;\n" + K.replace("4 * u", "*fours[0] * u")))
# 2h
CASES["sticky"] = ("only:out_of_bounds", simple(f"heat<<<{G}>>>(ARGS);", kernel=K.replace("if (x < nx && y < ny) ", "")))
CASES["stream"] = ("only:out_of_bounds", simple(f"heat<<<{G}, 0, s>>>(ARGS);", kernel=K.replace("if (x < nx && y < ny) ", ""), pre="cudaStream_t s; cudaStreamCreate(&s); float* h; cudaMallocHost(&h, 4); cudaEvent_t e; cudaEventCreate(&e);").replace("cudaFree(b);", "cudaFree(b); cudaFreeHost(h); cudaStreamDestroy(s); cudaEventDestroy(e);"))
CASES["double_free"] = ("kind:misuse", simple(f"heat<<<{G}>>>(ARGS);").replace("cudaFree(b);", "cudaFree(b); cudaFree(b);"))
CASES["one_race"] = ("only:race", simple(f"heat<<<{G}>>>(ARGS);", kernel=f"__global__ void heat(const float* u, float* out, int nx, int ny, float f) {{ __shared__ float s[256]; int t = threadIdx.y * 16 + threadIdx.x;\n s[t] = 0; __syncthreads();\n s[t] = f;\n f = f + 0 * s[255 - t];\n int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; if (x < nx && y < ny) out[y * nx + x] = {STENCIL}; }}"))
CASES["return"] = ("says: (Volta)", simple(f"heat<<<{G}>>>(ARGS);", kernel=K.replace("if (x < nx && y < ny)", "if (x >= nx || y >= ny) return; __syncthreads();")))
CASES["branch"] = ("only:divergence", simple(f"heat<<<{G}>>>(ARGS);", kernel=K.replace("if (x < nx && y < ny)", "if (x < nx) { __syncthreads(); }\n else { __syncthreads(); } if (x < nx && y < ny)")))
