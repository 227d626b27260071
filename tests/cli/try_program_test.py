# SPDX-License-Identifier: Apache-2.0
"""diffbench try of a whole CUDA program: what runs, each kind of fault with its line, what is refused, and that
right ones are not accused. No time decides a test."""
import csv
import os
import unittest

from program import CommandLineTest, parse_json

HEAD = """#include <cuda.h>
#include <cstdio>
#include <cstdlib>
"""

HEAT = HEAD + """
__constant__ float weight;
__device__ float laplacian(const float* u, int i, int n) { return u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - 4 * u[i]; }
template <typename T>
__global__ void heat(const T* u, T* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int i = y * n + x;
  bool edge = x == 0 || y == 0 || x == n - 1 || y == n - 1;
  out[i] = edge ? u[i] : u[i] + weight * laplacian(u, i, n);
}
int main(int argc, char** argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 40, steps = argc > 2 ? std::atoi(argv[2]) : 20;
  float w = 0.2f, *h = (float*)std::calloc(n * n, sizeof(float)), *a, *b;
  for (int i = 0; i < n; ++i) h[i] = 100;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc((void**)&b, n * n * sizeof(float));
  cudaMemcpyToSymbol(weight, &w, sizeof w);
  cudaMemcpy(a, h, n * n * sizeof(float), cudaMemcpyHostToDevice);
  dim3 threads(16, 16), blocks((n + 15) / 16, (n + 15) / 16);
  for (int s = 0; s < steps; ++s) {
    heat<float> << <blocks, threads>> > (a, b, n);
    float* c = a; a = b; b = c;
  }
  cudaDeviceSynchronize();
  cudaMemcpy(h, a, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n * n; ++i) sum += h[i];
  std::printf("sum %.3f\\n", sum);
  cudaFree(a); cudaFree(b); std::free(h);
}
"""


def host(body, before=""):
    """A program whose main() has an array `a` of 256 ints of the device, all 0, and `h` of the host."""
    return HEAD + before + """
int main() {
  int *a, h[256] = {};
  cudaMalloc(&a, sizeof h);
  cudaMemset(a, 0, sizeof h);
""" + body + """
  cudaDeviceSynchronize();
  cudaFree(a);
}
"""


# Kind, program; the line that is named has "// here".
FAULTS = {
    "race": host("k<<<1, 256>>>(a);", """
__global__ void k(int* a) {
  __shared__ int s[256];
  s[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] = s[255 - threadIdx.x]; // here
}"""),
    "race between blocks": host("k<<<4, 64>>>(a);", """
__global__ void k(int* a) { a[0] = a[0] + 1; } // here
"""),
    "divergence": host("k<<<1, 64>>>(a);", """
__global__ void k(int* a) {
  if (threadIdx.x < 32)
    __syncthreads(); // here
  else
    __syncthreads();
  a[threadIdx.x] = 1;
}"""),
    "out_of_bounds": host("k<<<3, 128>>>(a);", """
__global__ void k(int* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i; // here
}"""),
    "out_of_bounds of shared memory": host("k<<<1, 64>>>(a);", """
__global__ void k(int* a) {
  __shared__ int s[8][8];
  int x = threadIdx.x % 8, y = threadIdx.x / 8;
  s[y][x] = x;
  __syncthreads();
  a[threadIdx.x] = s[y + 1][x]; // here
}"""),
    "uninitialized": host("int* b; cudaMalloc(&b, sizeof h); k<<<1, 256>>>(b, a); cudaFree(b);"
                          "cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);", """
__global__ void k(const int* b, int* a) {
  a[threadIdx.x] = b[threadIdx.x]; // here
}"""),
    "use_after_free": host("""
  int* b;
  cudaMalloc(&b, sizeof h);
  cudaFree(b);
  cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice); // here
  (void)cudaGetLastError();"""),
    "copy_direction": host("""
  cudaMemcpy(h, a, sizeof h, cudaMemcpyHostToDevice); // here
  (void)cudaGetLastError();"""),
    "copy_size": host("""
  cudaMemcpy(a, h, 2 * sizeof h, cudaMemcpyHostToDevice); // here
  (void)cudaGetLastError();"""),
    "early_read": host("""
  int* p;
  cudaMallocHost(&p, sizeof h);
  cudaMemcpyAsync(p, a, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%d\\n", p[3]); // here
  cudaDeviceSynchronize();
  cudaFreeHost(p);"""),
    "launch_refused": host("""
  k<<<1, 2048>>>(a); // here
""", "__global__ void k(int* a) { a[0] = 1; }"),
    "launch_refused, shared memory": host("k<<<1, 64, 100000>>>(a); // here", "__global__ void k(int* a) { a[0] = 1; }"),
    "launch_refused, a grid": host("k<<<dim3(1, 70000), 64>>>(a); // here", "__global__ void k(int* a) { a[0] = 1; }"),
    "misuse of a stream": host("cudaStream_t s; cudaStreamCreate(&s); cudaStreamDestroy(s);"
                               "cudaStreamSynchronize(s); (void)cudaGetLastError(); // here"),
    "misuse of an event": host("cudaEvent_t e; cudaEventCreate(&e); cudaEventDestroy(e);"
                               "cudaEventRecord(e); (void)cudaGetLastError(); // here"),
    "race with a copy": host("""
  int* p;
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaMallocHost(&p, sizeof h);
  cudaMemcpyAsync(a, p, sizeof h, cudaMemcpyHostToDevice, s); // here
  k<<<1, 256>>>(a);
  cudaDeviceSynchronize();
  cudaStreamDestroy(s);
  cudaFreeHost(p);""", "__global__ void k(int* a) { a[threadIdx.x] += 1; }"),
    "early_read of managed memory": host("""
  int* m;
  cudaMallocManaged(&m, sizeof h);
  k<<<1, 256>>>(m);
  std::printf("%d\\n", m[3]); // here
  cudaDeviceSynchronize();
  cudaFree(m);""", "__global__ void k(int* a) { a[threadIdx.x] = 1; }"),
    "unchecked_error": host("""
  int* b = nullptr;
  cudaMalloc(&b, std::size_t{1} << 50); // here
"""),
    "host_touches_device": host("""
  std::printf("%d\\n", a[0]); // here
"""),
    "device_touches_host": host("""
  int* b = (int*)std::calloc(256, sizeof(int));
  k<<<1, 1>>>(b);
""", """
__global__ void k(int* a) {
  a[0] = 1; // here
}"""),
    "kernel_fault": host("k<<<1, 4>>>(a);", """
#include <assert.h>
__global__ void k(int* a) {
  assert(threadIdx.x != 3); // here
}"""),
}

FAULTS["uninitialized, two copies at one line"] = host("""
  int g[256], *b, *c;
  cudaMalloc(&b, sizeof h);
  cudaMalloc(&c, sizeof h);
  k<<<1, 256>>>(b, c);
  for (auto [to, from] : {std::pair(h, c), std::pair(g, a)}) cudaMemcpy(to, from, sizeof h, cudaMemcpyDeviceToHost);
  cudaFree(b); cudaFree(c);
""", """#include <utility>
__global__ void k(const int* b, int* c) {
  c[threadIdx.x] = b[threadIdx.x] > 0 ? b[threadIdx.x] : threadIdx.x; // here
}""")

FAULTS["uninitialized, a counter"] = host("""
  int *n, all = 0;
  cudaMalloc(&n, sizeof all);
  k<<<1, 64>>>(n);
  cudaMemcpy(&all, n, sizeof all, cudaMemcpyDeviceToHost);
  cudaFree(n);""", """__global__ void k(int* n) {
  atomicAdd(n, 1); // here
}""")
FAULTS["uninitialized, shared memory"] = host("""
  k<<<1, 32>>>(a);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);""", """__global__ void k(int* a) {
  __shared__ int s[33];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1]; // here
}""")
FAULTS["uninitialized, what is printed"] = host("""
  int* b;
  cudaMalloc(&b, sizeof h);
  k<<<2, 64>>>(b);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost); // here
  std::printf("%d\\n", h[200]);
  cudaFree(b);""", "__global__ void k(int* b) { b[blockIdx.x * blockDim.x + threadIdx.x] = 1; }")
FAULTS["divergence, as others have returned"] = host("""
  k<<<1, 64>>>(a, 40);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  if (h[0] != 39 || h[39] != 0) return 1; // it has gone on, as on a card
""", """__global__ void k(int* a, int n) {
  __shared__ int s[64];
  if (threadIdx.x >= n) return;
  s[threadIdx.x] = threadIdx.x;
  __syncthreads(); // here
  a[threadIdx.x] = s[n - 1 - threadIdx.x];
}""")

# What is told, and no fault.
REMARKS = {
    "uninitialized, a warm-up": host("""
  int* b;
  cudaMalloc(&b, sizeof h);
  k<<<1, 256>>>(b, a);
  cudaMemset(b, 0, sizeof h);
  k<<<1, 256>>>(b, a);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  cudaFree(b);
""", """__global__ void k(const int* b, int* a) {
  a[threadIdx.x] = b[threadIdx.x] + 1; // here
}"""),
    "uninitialized, what is copied": host("""
  int* b;
  cudaMalloc(&b, sizeof h);
  k<<<2, 64>>>(b);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost); // here
  cudaFree(b);""", "__global__ void k(int* b) { b[blockIdx.x * blockDim.x + threadIdx.x] = 1; }"),
    "leak": host("""
  int* b;
  cudaMalloc(&b, sizeof h); // here
  k<<<1, 1>>>(a);
""", "__global__ void k(int* a) { a[0] = 1; }"),
    "stopwatch": host("""
  clock_t begin = clock();
  k<<<1, 1>>>(a);
  clock_t end = clock(); // here
  cudaDeviceSynchronize();
  std::printf("%ld\\n", end - begin);
""", "#include <ctime>\n__global__ void k(int* a) { a[0] = 1; }"),
    "stopwatch of events": host("""
  cudaEvent_t e, f;
  cudaStream_t s;
  cudaEventCreate(&e); cudaEventCreate(&f);
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  cudaEventRecord(e);
  k<<<1, 1, 0, s>>>(a);
  cudaEventRecord(f);
  cudaDeviceSynchronize();
  float ms = 0;
  cudaEventElapsedTime(&ms, e, f); // here
  std::printf("%f\\n", ms);
  cudaEventDestroy(e); cudaEventDestroy(f); cudaStreamDestroy(s);
""", "__global__ void k(int* a) { a[0] = 1; }"),
}

REMARKS["uninitialized, padding"] = host("""
  struct P { char c; int x; } all[64], *p;
  cudaMalloc(&p, sizeof all);
  k<<<1, 64>>>((char*)p);
  cudaMemcpy(all, p, sizeof all, cudaMemcpyDeviceToHost); // here
  cudaFree(p);""", "__global__ void k(char* p) { p += 8 * threadIdx.x; *p = 1; *(int*)(p + 4) = 2; }")
REMARKS["order"] = host("""
  float* f = (float*)a, sum[1];
  k<<<700, 64>>>(f);
  cudaMemcpy(sum, f, sizeof sum, cudaMemcpyDeviceToHost); // here
""", "__global__ void k(float* a) { atomicAdd(a, 1.0f / (1 + threadIdx.x + 64 * blockIdx.x)); }")

# Nothing is said of these.
RIGHT = {
    "the order of sums of integers": host("""
  k<<<700, 64>>>(a);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);""", "__global__ void k(int* a) { atomicAdd(a, threadIdx.x + 64 * blockIdx.x); }"),
    "numbers by chance": host("""
  k<<<8, 64>>>(a, std::random_device{}());
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);""",
                              "#include <random>\n__global__ void k(int* a, unsigned seed) { atomicAdd(a, seed >> 8); }"),
    "places of arrays": host("""
  struct Row { int *p, n; } rows[64], *r;
  cudaMalloc(&r, sizeof rows);
  cudaMemset(r, 0, sizeof rows);
  k<<<1, 64>>>((int**)r, a);
  cudaMemcpy(rows, r, sizeof rows, cudaMemcpyDeviceToHost);
  cudaFree(r);""", "__global__ void k(int** rows, int* a) { rows[2 * threadIdx.x] = a; atomicAdd(a, 1); }"),
    "streams, whose copies have one line": host("""
  int* p;
  cudaStream_t s[4];
  cudaMallocHost(&p, 1024);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; ++i) {
    cudaStreamCreate(&s[i]);
    k<<<8, 64, 0, s[i]>>>(a + 64 * i, i);
    cudaMemcpyAsync(p + 64 * i, a + 64 * i, 256, cudaMemcpyDeviceToHost, s[i]);
  }
  cudaDeviceSynchronize();
  for (auto each : s) cudaStreamDestroy(each);
  cudaFreeHost(p);""", "__global__ void k(int* a, int n) { atomicAdd(a + threadIdx.x, threadIdx.x % 5 + n); }"),
    "the same value": host("k<<<4, 64>>>(a);", "__global__ void k(int* a) { a[0] = 7; }"),
    "atomics, votes, shuffles": host("""
  k<<<2, 64>>>(a, a + 128);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  if (h[0] != 128 || h[128] != 2 * 2 * 496) return 1;
""", """
__device__ int sum_of_warp(int v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
__global__ void k(int* count, int* sum) {
  int all = __syncthreads_count(threadIdx.x < 64);
  int v = sum_of_warp(threadIdx.x % 32);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
  if (threadIdx.x == 0) atomicAdd(count, all);
}"""),
    "dynamic shared memory, a recursive function": host("""
  k<<<1, 64, 64 * sizeof(int)>>>(a);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  if (h[0] != 63 || h[63] != 120) return 1;
""", """
__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__global__ void k(int* a) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  a[threadIdx.x] = threadIdx.x == 63 ? factorial(5) : s[63 - threadIdx.x];
}"""),
    "the block that comes last, and the words of std::to_string": host("""
  k<<<8, 64>>>(a, a + 8);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  if (std::to_string(h[8]) != "504") return 1;
""", """
#include <string>
__device__ unsigned count;
__shared__ bool is_last;
__device__ bool is_it() { return is_last; }
__global__ void k(int* part, int* sum) {
  extern __shared__ __align__(16) unsigned char all[];
  if (threadIdx.x == 0) {
    part[blockIdx.x] = 63;
    __threadfence();
    is_last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_it()) atomicAdd(sum, threadIdx.x < gridDim.x ? part[threadIdx.x] : 0);
}""").replace("k<<<8, 64>>>", "k<<<8, 64, 16>>>"),
    "NULL for a stream, a specialization, an argument with a destructor": host("""
  Held held;
  k<int><<<1, (INT_MAX > 0 ? 32 : 1),
           0, NULL>>>(a, held);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  if (h[31] != 7 || isinf(1.0f)) return 1;
""", """
#include <climits>
#include <cmath>
struct Held { int value = 7; ~Held() { value = 0; } };
template <typename T> __global__ void k(T* a, Held h) {}
template <> __global__ void k<int>(int* a, Held h) { a[threadIdx.x] = h.value; }"""),
    "the lanes that are active": host("""
  k<<<1, 64>>>(a, a + 1);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  if (h[0] != 32 || h[1] != 0xaaaaaaaa) return 1;
""", """
__global__ void k(int* count, int* mask) {
  if (threadIdx.x % 2 == 0) return;
  unsigned lanes = __activemask();
  int leader = __ffs(lanes) - 1;
  if (threadIdx.x % 32 == leader) atomicAdd(count, __popc(lanes));
  if (threadIdx.x == 1) *mask = lanes;
  __syncwarp(lanes);
}"""),
    "a volatile flag": host("""
  for (int i = 0; i < 20; ++i) { // the last ones are not watched
    cudaMemset(a, 0, 12);
    k<<<2, 32>>>(a, a + 1, a + 2);
    cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    if (h[2] != 42) return 1;
  }
""", """
__global__ void k(volatile int* flag, volatile int* value, int* out) {
  if (threadIdx.x > 0) return;
  if (blockIdx.x == 1) { *value = 42; __threadfence(); *flag = 1; return; }
  while (*flag == 0) ;
  __threadfence();
  *out = *value;
}"""),
    "a write that leaves what is there, and a read": host("""
  for (int i = 0; i < 16; ++i) h[17 * i] = 0;
  for (int i = 0; i < 256; ++i) h[i] = i / 16 == i % 16 ? 0 : i * 7 % 31 + 1;
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  for (int i = 0; i < 16; ++i) k<<<16, 16>>>(a, i);
""", """
__global__ void k(int* a, int via) { // Floyd and Warshall's
  int i = blockIdx.x, j = threadIdx.x, d = a[16 * i + via] + a[16 * via + j];
  a[16 * i + j] = min(d, a[16 * i + j]);
}"""),
    "dynamic shared memory outside of functions, in parts": host("""
  k<<<1, 32, 32 * 5>>>(a);
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  if (h[0] != 31 + 1) return 1;
""", """
extern __shared__ __align__(16) unsigned char all[];
__global__ void k(int* a) {
  int* s = reinterpret_cast<int*>(all);
  unsigned char* c = all + 128;
  s[threadIdx.x] = threadIdx.x;
  c[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x] = s[31 - threadIdx.x] + c[31 - threadIdx.x];
}"""),
    "Thrust": """
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/count.h>
#include <thrust/extrema.h>
#include <thrust/generate.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>
#include <cstdlib>
struct Square { __host__ __device__ int operator()(int x) const { return x * x; } };
struct Sum { template <typename T> __host__ __device__ void operator()(T t) { thrust::get<2>(t) = thrust::get<0>(t) + thrust::get<1>(t); } };
int main() {
  thrust::host_vector<int> h(100);
  thrust::generate(h.begin(), h.end(), rand);
  thrust::device_vector<int> d = h, e(100, 1), f(100);
  thrust::sort(h.begin(), h.end());
  thrust::sort(d.begin(), d.end(), thrust::greater<int>());
  if (d[0] != h[99] || d[99] != h[0]) return 1;
  thrust::inclusive_scan(e.begin(), e.end(), f.begin());
  if (f[99] != 100 || thrust::count(f.begin(), f.end(), 7) != 1) return 2;
  thrust::exclusive_scan(e.begin(), e.end(), e.begin(), 5);
  if (e[99] != 104 || thrust::max_element(e.begin(), e.end()) - e.begin() != 99) return 3;
  thrust::fill(e.begin(), e.end(), 2);
  auto from = thrust::make_zip_iterator(thrust::make_tuple(e.begin(), f.begin(), d.begin()));
  thrust::for_each(from, thrust::make_zip_iterator(e.end(), f.end(), d.end()), Sum());
  if (d[9] != 12 || thrust::inner_product(e.begin(), e.end(), e.begin(), 0) != 400) return 4;
  if (thrust::reduce(thrust::make_transform_iterator(e.begin(), Square()),
                     thrust::make_transform_iterator(e.end(), Square())) != 400) return 5;
  thrust::transform(e.begin(), e.end(), thrust::make_constant_iterator(5), f.begin(), thrust::plus<int>());
  return thrust::unique(f.begin(), f.end()) - f.begin() == 1 && f[0] == 7 ? 0 : 6;
}
""",
    "a class that gives back what a variable holds": HEAD + """
struct Array { int* p = nullptr; ~Array() { cudaFree(p); } } all;
__global__ void k(int* a) { a[threadIdx.x] = 1; }
int main() { cudaMalloc(&all.p, 256); k<<<1, 64>>>(all.p); cudaDeviceSynchronize(); }
""",
}

# Many blocks, of which few are watched, after a barrier each.
LARGE = HEAD + """
__global__ void k(const int* in, int* out, int n) {
  __shared__ int s[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[255 - threadIdx.x] + in[i];
}
int main() {
  const int n = 1 << 23;
  int *h = new int[n], *a, *b;
  for (int i = 0; i < n; ++i) h[i] = i;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaMemcpy(a, h, n * sizeof(int), cudaMemcpyHostToDevice);
  for (int s = 0; s < 2; ++s) k<<<n / 256, 256>>>(a, b, n);
  cudaMemcpy(h, b, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i)
    if (h[i] != i / 256 * 256 + 255 - i % 256 + i) return 1;
  delete[] h; cudaFree(a); cudaFree(b);
}
"""


class TryProgram(CommandLineTest):
    def try_it(self, source, *arguments, name="prog.cu", **options):
        """What was done, and the result file's part of it."""
        self.path(name).write_text(source)
        words = arguments if "--" in arguments else (*arguments, "--")
        at = words.index("--")
        rest = words[at:] if len(words) > at + 1 else ()
        done = self.run_program("try", name, *words[:at], "--json", "-", *rest, **options)
        return done, parse_json(done.stdout)["diffbench"]["try"] if done.stdout else None

    def check_found(self, name, source, finding):
        line = next(n for n, text in enumerate(source.split("\n"), 1) if "// here" in text)
        self.assertIn((name.split(" ")[0].rstrip(","), f"prog.cu:{line}"),
                      [(each["kind"], each[place]) for each in finding for place in ("where", "other")],
                      f"{name}: {finding}")

    def test_right_program(self):
        done, tried = self.try_it(HEAT)
        self.assertEqual((done.returncode, tried["verdict"], tried["findings"]), (0, "no fault found", []), done.stderr)
        self.assertEqual([(k["kernel"], k["launches"], k["threads"]) for k in tried["kernels"]],
                         [("heat", 20, 20 * 48 * 48)])
        self.assertRegex(tried["printed"], r"^sum \d+\.\d+$")
        self.assertEqual((tried["form"], tried["by_itself"], tried["status"]), ("program", True, 0))
        text = self.run_ok("try", "prog.cu").stdout
        self.assertIn("prog.cu: no fault found.", text)
        self.assertIn("heat", text)

    def test_arguments(self):
        _, tried = self.try_it(HEAT, "--", "32", "3")
        self.assertEqual([(k["launches"], k["threads"]) for k in tried["kernels"]], [(3, 3 * 32 * 32)])

    def test_bill(self):
        """What it asks a card for, and what a step adds; not where it copies in each one: then what it would be without."""
        trips = HEAT.replace("    float* c =", """    cudaMemcpy(h, b, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(b, h, n * n * sizeof(float), cudaMemcpyHostToDevice);
    float* c =""")
        field = 40 * 40 * 4
        for source, copies, trips_seconds in ((HEAT, [0, 0], False), (trips, [1, 1], True)):
            done, tried = self.try_it(source, "--assume", "t4")
            asked = tried["assumed"]
            parts = {part["part"]: part for part in asked["parts"]}
            both = [parts["copies up, pageable"], parts["copies down, pageable"]]
            self.assertEqual((done.returncode, asked["kernel"], asked["steps"]), (0, "heat", 20), done.stderr)
            self.assertEqual([part["calls_per_step"] for part in both], copies, parts)
            self.assertEqual([part["bytes_per_step"] for part in both], [field * each for each in copies])
            self.assertEqual([part["bytes"] for part in both], [field * (1 + 20 * copies[0]) + 4, field * (1 + 20 * copies[1])])
            self.assertEqual(asked["resident_seconds"] != asked["seconds"], trips_seconds, asked)
            self.assertEqual("leave the field on the card" in asked["sentence"], trips_seconds, asked["sentence"])
            self.assertIn(asked["sentence"], done.stdout + self.run_ok("try", "prog.cu", "--assume", "t4").stdout)
        small = trips.replace("n * n * sizeof(float), cudaMemcpyDeviceToHost", "sizeof(float), cudaMemcpyDeviceToHost", 1)
        small = small.replace("n * n * sizeof(float), cudaMemcpyHostToDevice);\n    float* c", "4, cudaMemcpyHostToDevice);\n    float* c", 1)
        asked = self.try_it(small, "--assume", "t4")[1]["assumed"] # a residual stays
        self.assertEqual(asked["resident_seconds"], asked["seconds"], asked)

    def test_bill_of_what_was_watched_in_part(self):
        _, tried = self.try_it(LARGE, "--assume", "h200")
        kernel = next(part for part in tried["assumed"]["parts"] if part["part"] == "kernel k")
        read_and_written = 2 * 2 * 4 * (1 << 23)
        self.assertTrue(abs(kernel["bytes"] / read_and_written - 1) < 0.02, kernel)
        self.assertNotIn("assumed", self.try_it(host(""), "--assume", "h200")[1]) # it launches nothing
        # Sixteen blocks read the same cells: there are no more than the arrays have.
        _, tried = self.try_it(host("""
  int* b;
  cudaMalloc(&b, 1 << 23);
  cudaMemset(b, 0, 1 << 23);
  k<<<1 << 17, 256>>>(b, a);
  cudaFree(b);
""", """__global__ void k(const int* b, int* a) {
  if (b[(blockIdx.x * 256 + threadIdx.x) % (1 << 21)] == 7) *a = 1;
}"""), "--assume", "h200")
        kernel = next(part for part in tried["assumed"]["parts"] if part["part"] == "kernel k")
        self.assertEqual(kernel["bytes"], (1 << 23) + 1024)

    def test_bill_of_graphs_and_of_what_the_budget_ended(self):
        graph = host("""
  cudaStream_t s; cudaGraph_t g; cudaGraphExec_t e;
  cudaDeviceSynchronize();
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < 4; ++i) k<<<1, 256, 0, s>>>(a);
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&e, g, 0);
  for (int i = 0; i < 10; ++i) cudaGraphLaunch(e, s);
  cudaStreamSynchronize(s);
  cudaGraphExecDestroy(e); cudaGraphDestroy(g); cudaStreamDestroy(s);
""", "__global__ void k(int* a) { a[threadIdx.x] += 1; }")
        _, tried = self.try_it(graph, "--assume", "t4")
        self.assertEqual([(k["kernel"], k["launches"]) for k in tried["kernels"]], [("k", 40)])
        launches = next(part for part in tried["assumed"]["parts"] if part["part"] == "launches")
        self.assertEqual((tried["assumed"]["steps"], launches["calls_per_step"], launches["calls"]), (10, 4, 40))
        endless = host("for (;;) k<<<1, 64>>>(a);", "__global__ void k(int* a) { a[threadIdx.x] = 1; }")
        _, tried = self.try_it(endless.replace("for (;;)", "for (int i = 0; i < 100000000; ++i)"), "--budget", "2", "--assume", "t4")
        self.assertEqual((tried["by_itself"], tried["assumed"]["steps"]), (False, tried["kernels"][0]["launches"]))

    def test_each_fault_is_named_with_its_line(self):
        for name, source in FAULTS.items():
            with self.subTest(name):
                done, tried = self.try_it(source)
                self.assertEqual((done.returncode, tried["verdict"]), (3, "faults"), (name, tried["findings"]))
                self.check_found(name, source, tried["findings"])
                if name.endswith("have returned"):
                    self.assertEqual((tried["status"], len(tried["findings"])), (0, 1))

    def test_arrays_have_their_names(self):
        kernel = "__global__ void k(int* a) { a[threadIdx.x] = 1; }"
        for name, allocation in (("d_u", "int* d_u; cudaMalloc((void**)&d_u, 64);"),
                                 ("f.u", "struct { int* u; } f; if (cudaMalloc(&f.u, 64) != cudaSuccess) return 1;"),
                                 ("all[1]", "int* all[2]; cudaMallocManaged(&all[1], 64);")):
            _, tried = self.try_it(host(f"{allocation} k<<<1, 64>>>({name});", kernel))
            self.assertIn(f" of {name} (", tried["findings"][0]["message"])

    def test_remarks_leave_the_verdict(self):
        for name, source in REMARKS.items():
            with self.subTest(name):
                done, tried = self.try_it(source)
                self.assertEqual((done.returncode, tried["verdict"]), (0, "no fault found"), (name, tried["findings"]))
                self.check_found(name, source, tried["findings"])

    def test_right_ones_are_not_accused(self):
        for name, source in RIGHT.items():
            with self.subTest(name):
                done, tried = self.try_it(source)
                self.assertEqual((done.returncode, tried["verdict"], tried["findings"]), (0, "no fault found", []),
                                 (name, done.stderr))

    def test_large_launches_are_watched_in_part_and_right(self):
        done, tried = self.try_it(LARGE)
        self.assertEqual((done.returncode, tried["status"], tried["findings"]), (0, 0, []), done.stderr)
        watched = tried["kernels"][0]["watched"]
        self.assertTrue(0 < watched < 1, watched)

    def test_faults_of_blocks_at_the_end_are_seen_in_large_launches(self):
        source = LARGE.replace("out[i] =", "if (i + 1 <= n) out[i + 1] = // here\n ")
        done, tried = self.try_it(source)
        self.assertEqual(done.returncode, 3, tried)
        self.check_found("out_of_bounds", source, tried["findings"])

    def test_several_files(self):
        self.path("scale.h").write_text("void scale(int* a, int n);\nint factor();\n")
        self.path("helper.cpp").write_text('#include "scale.h"\nint factor() { return 3; }\n')
        self.path("scale.cu").write_text(HEAD + '#include "scale.h"\n__global__ void by(int* a, int f) '
                                         "{ a[threadIdx.x] *= f; }\nvoid scale(int* a, int n) { by<<<1, n>>>(a, factor()); }\n")
        source = host("""
  scale(a, 256);
  scale(a, 300); // more than there is
""", '#include "scale.h"\n')
        done, tried = self.try_it(source, "scale.cu", "helper.cpp")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual([(each["kind"], each["where"]) for each in tried["findings"]],
                         [("out_of_bounds", "scale.cu:5")])
        self.assertEqual(self.try_it(source.replace("300", "200"), "scale.cu", "helper.cpp")[0].returncode, 0)
        self.path("helper.c").write_text('int factor(void) { int new = 3; return new; }\n')
        self.path("scale.h").write_text('void scale(int* a, int n);\nextern "C" int factor();\n')
        self.assertEqual(self.try_it(source.replace("300", "200"), "scale.cu", "helper.c")[0].returncode, 0)

    def test_headers_of_other_folders(self):
        """Those that --flags names."""
        for folder in ("common", "own"):
            self.path(folder).mkdir()
        self.path("common/n.h").write_text("#define N 32\n")
        source = host("k<<<1, N>>>(a);", '#include "../common/n.h"\n__global__ void k(int* a) { a[threadIdx.x] = 1; }')
        self.assertIn("-IFOLDER", self.try_it(source, name="own/prog.cu")[0].stderr)
        self.assertEqual(self.try_it(source, "--flags=-Icommon", name="own/prog.cu")[0].returncode, 0)

    def test_stdin_and_files(self):
        self.directory.chmod(0o755) # of root's it runs as nobody
        self.path("in.txt").write_text("17\n")
        self.path("numbers.txt").write_text("25\n")
        source = HEAD + """
__global__ void add(int* a, int b) { *a += b; }
int main() {
  int n = 0, m = 0, sum = 0, *a;
  std::FILE* in = std::fopen("in.txt", "r");
  if (in == nullptr || std::fscanf(in, "%d", &n) != 1 || std::scanf("%d", &m) != 1) return 7;
  cudaMalloc(&a, sizeof n);
  cudaMemcpy(a, &n, sizeof n, cudaMemcpyHostToDevice);
  add<<<1, 1>>>(a, m);
  cudaMemcpy(&sum, a, sizeof n, cudaMemcpyDeviceToHost);
  std::FILE* out = std::fopen("out.txt", "w");
  std::fprintf(out, "%d\\n", sum);
  std::fclose(out);
  int again = 0;
  if (std::fscanf(std::fopen("out.txt", "r"), "%d", &again) != 1) return 8;
  std::printf("sum %d\\n", again);
  cudaFree(a);
}
"""
        with self.path("numbers.txt").open() as numbers:
            done, tried = self.try_it(source, stdin=numbers)
        self.assertEqual((done.returncode, tried["printed"]), (0, "sum 42"), (done.stderr, tried))
        self.assertFalse(self.path("out.txt").exists())

    def test_each_run_has_the_same_input(self):
        """What nobody has written leaves the same in a second run, so it is a remark."""
        source = host("""
  int n = 0, *b;
  if (std::scanf("%d", &n) != 1) return 3;
  cudaMalloc(&b, sizeof h);
  k<<<1, n>>>(b);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) std::printf("%d ", h[i]);
  cudaFree(b);""", "__global__ void k(int* b) { b[threadIdx.x] = 1; }")
        self.path("prog.cu").write_text(source)
        self.path("in.txt").write_text("first line\n7\n")
        for feed in ("echo 7 |", "{ read line; "):
            done = self.run_program("-c", f'{feed} "$0" try prog.cu {"; read rest; test -z $rest; } < in.txt" if "{" in feed else ""}',
                                    os.environ["DIFFBENCH_PROGRAM"], program="sh")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("remark, uninitialized", done.stdout)

    def test_budget_ends_it(self):
        source = host("for (;;) { k<<<1, 64>>>(a); cudaDeviceSynchronize(); }",
                      "__global__ void k(int* a) { a[threadIdx.x] = 1; }")
        done, tried = self.try_it(source, "--budget", "2")
        self.assertEqual((done.returncode, tried["verdict"], tried["by_itself"]), (0, "no fault found", False), done.stderr)
        self.assertGreater(tried["kernels"][0]["launches"], 1)
        self.assertIn("--budget ended it", self.run_program("try", "prog.cu", "--budget", "2").stdout)
        on_host = host("k<<<1, 64>>>(a); cudaDeviceSynchronize(); for (volatile int i = 0;;) i = 1;",
                       "__global__ void k(int* a) { a[threadIdx.x] = 1; }")
        done, tried = self.try_it(on_host, "--budget", "2")
        self.assertEqual((done.returncode, tried["by_itself"], tried["kernels"][0]["launches"]), (0, False, 1), done.stderr)

    def test_a_crash_keeps_what_was_counted(self):
        for crash, kinds in (("*(volatile int*)nullptr = 1;", ["host_crash"]), ("std::abort();", [])):
            done, tried = self.try_it(host(f"k<<<1, 64>>>(a); cudaDeviceSynchronize(); {crash}",
                                           "__global__ void k(int* a) { a[threadIdx.x] = 1; }"))
            self.assertEqual(([each["kind"] for each in tried["findings"]], tried["kernels"][0]["threads"]), (kinds, 64))

    def test_errors_have_a_cards_codes(self):
        for fault, code in (("a[1000] = 1;", 700), ("assert(*a != 0);", 710), ("__trap();", 719)):
            _, tried = self.try_it(host("k<<<1, 1>>>(a); std::printf(\"%d\\n\", int(cudaDeviceSynchronize()));",
                                        f"#include <cassert>\n__global__ void k(int* a) {{ {fault} }}"))
            self.assertEqual(tried["printed"], str(code), fault)

    def test_not_decided(self):
        not_waited = HEAD + "__global__ void k(int* a) { *a = 1; }\nint main() { int* a; cudaMalloc(&a, 4); k<<<1, 1>>>(a); }"
        for source, why in ((host("return 5;"), "it ended with status 5"), (host(""), "no kernel ran"),
                            (host("return -1;"), "it ended with status 255"),
                            (not_waited, "no kernel ran"),
                            (HEAD + "int main(int argc, char** argv) { return std::atoi(argv[1]); }",
                             "its arguments come after --")):
            with self.subTest(why):
                done, tried = self.try_it(source)
                self.assertEqual((done.returncode, tried["verdict"]), (1, "not decided"), tried)
                self.assertIn(why, done.stderr)

    def test_refused_by_name_and_line(self):
        for code, why in (("asm(\"\");", "prog.cu:9: inline assembly"), ("cudaMemcpy3D(0);", "prog.cu:9: cudaMemcpy3D is not emulated"),
                          ("cudaThreadSynchronize();", "prog.cu:9: CUDA has no cudaThreadSynchronize any more: "
                                                       "cudaDeviceSynchronize"),
                          ("\n#include <cuda_fp16.h>\n", "prog.cu:10: <cuda_fp16.h> is not emulated"),
                          ("int x = nothing;", "prog.cu:9:")):
            with self.subTest(code):
                done, _ = self.try_it(host(code))
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(why, done.stderr)

    def test_result_files(self):
        """All of them tell the verdict and each finding, the worst first; the page has them as pictures."""
        for name, source, verdict, kinds in (("right", HEAT, "no fault found", []),
                                             ("race", FAULTS["race"], "faults", ["race", "uninitialized"]),
                                             ("stopwatch", REMARKS["stopwatch"], "no fault found", ["stopwatch"]),
                                             ("none", host(""), "not decided", [])):
            with self.subTest(name):
                self.path("prog.cu").write_text(source)
                done = self.run_program("try", "prog.cu", "--json", "a.json", "--csv", "a.csv", "--report", "a.html")
                self.assertIn(f"prog.cu: {'2 faults' if verdict == 'faults' else verdict}", done.stdout)
                own = parse_json(self.path("a.json").read_text())["diffbench"]
                tried = own["try"]
                self.assertEqual((tried["verdict"], [each["kind"] for each in tried["findings"]]), (verdict, kinds))
                self.assertEqual([each["rows"] for each in own["pictures"]], ["findings"] * bool(kinds) + ["kernels"])
                with self.path("a.csv").open(newline="", encoding="utf-8") as file:
                    rows = list(csv.DictReader(file))
                self.assertEqual([(row["verdict"], row["kind"]) for row in rows],
                                 [(verdict, kind) for kind in kinds or [""]])
                self.assertEqual([row["where"] for row in rows if row["kind"]], [each["where"] for each in tried["findings"]])
                self.run_ok("report", "a.json", "-o", "b.html")
                for page in ("a.html", "b.html"):
                    for each in tried["findings"]:
                        self.assertIn(each["message"].replace("<", "\\u003c"), self.path(page).read_text())

    def test_options_of_forms_have_no_effect(self):
        done, _ = self.try_it(HEAT, "--dtype", "float32")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--dtype", done.stderr)
        self.path("my.c").write_text("void step(const float* u, float* out, int nx, int ny, float factor) {}\n")
        for words in (("my.c", "prog.cpp"), ("my.c", "--", "3")):
            self.assertEqual(self.run_program("try", *words).returncode, 2, words)

    def test_flags_are_added(self):
        source = host("static_assert(COUNT == 3);\nk<<<1, COUNT>>>(a);", "__global__ void k(int* a) { a[threadIdx.x] = 1; }")
        done, tried = self.try_it(source, "--flags=-DCOUNT=3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(tried["kernels"][0]["threads"], 3)


if __name__ == "__main__":
    unittest.main()
