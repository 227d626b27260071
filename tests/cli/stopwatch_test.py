# SPDX-License-Identifier: Apache-2.0
"""diffbench try of whole CUDA programs, and what they time: each kind of wrong stopwatch is named with its line, in
the spellings that courses have, and right ones are not accused."""
import unittest

from program import CommandLineTest, parse_json

PROGRAM = """#include <cuda_runtime.h>
#include <helper_timer.h>
#include <omp.h>
#include <sys/time.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#define CHECK(call) do { if ((call) != cudaSuccess) std::exit(9); } while (0)
const int n = 1 << 14;
const size_t bytes = n * sizeof(float);
__global__ void work(float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 2 * a[i] + 1;
}
double seconds() {
  struct timeval now;
  gettimeofday(&now, NULL);
  return now.tv_sec + 1e-6 * now.tv_usec;
}
double once(float* a) {
  double begin = seconds();
  work<<<n / 256, 256>>>(a);
  return seconds() - begin; /*once*/
}
int main() {
  float *a, *b, ms = 0, *h = (float*)std::calloc(n, sizeof(float));
  cudaEvent_t start, stop;
  cudaStream_t s, r;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  CHECK(cudaMemset(a, 0, bytes));
  CHECK(cudaMemset(b, 0, bytes));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamCreateWithFlags(&r, cudaStreamNonBlocking));
  StopWatchInterface* timer = NULL;
  sdkCreateTimer(&timer);
  double took = 0;
  CHECK(cudaDeviceSynchronize());
  WARM_UP
  BODY
  std::printf("%g %g\\n", took, (double)ms);
  CHECK(cudaDeviceSynchronize());
  sdkDeleteTimer(&timer);
  cudaEventDestroy(start); cudaEventDestroy(stop); cudaStreamDestroy(s); cudaStreamDestroy(r);
  cudaFree(a); cudaFree(b); std::free(h);
}
"""
WARM = "work<<<n / 256, 256>>>(a); work<<<n / 256, 256, 0, s>>>(a); work<<<n / 256, 256, 0, r>>>(b); cudaDeviceSynchronize();"
RUN = "work<<<n / 256, 256>>>(a);"
WAIT = "cudaDeviceSynchronize();"
CHRONO = "auto t0 = std::chrono::steady_clock::now();"
CHRONO_STOP = "auto t1 = std::chrono::steady_clock::now(); took = std::chrono::duration<double>(t1 - t0).count();"
EVENTS_STOP = "cudaEventRecord(stop); cudaEventSynchronize(stop);\n cudaEventElapsedTime(&ms, start, stop); // here"


def samples(code):
    return "for (int sample = 0; sample < 3; ++sample) {\n" + code + "\n}"


# Name; what the message says; the code, where the line that is named has "// here"; whether it warms up.
WRONG = [
    ("clock", "may still run", samples(f"clock_t t = clock(); {RUN}\n took = clock() - t; // here\n {WAIT}"), True),
    ("gettimeofday", "may still run", samples(
        f"timeval t, u; gettimeofday(&t, 0); {RUN}\n gettimeofday(&u, 0); // here\n took = u.tv_usec - t.tv_usec; {WAIT}"), True),
    ("clock_gettime", "may still run", samples(
        f"timespec t, u; clock_gettime(CLOCK_MONOTONIC, &t); {RUN}\n clock_gettime(CLOCK_MONOTONIC, &u); // here\n"
        f"took = u.tv_nsec - t.tv_nsec; {WAIT}"), True),
    ("steady_clock", "may still run", samples(f"{CHRONO} {RUN}\n {CHRONO_STOP} // here\n {WAIT}"), True),
    ("high_resolution_clock", "may still run", samples(
        f"auto t = std::chrono::high_resolution_clock::now(); {RUN}\n"
        f"took = (std::chrono::high_resolution_clock::now() - t).count(); // here\n {WAIT}"), True),
    ("omp_get_wtime", "may still run", samples(f"took = -omp_get_wtime(); {RUN}\n took += omp_get_wtime(); // here\n {WAIT}"), True),
    ("time", "may still run", samples(f"time_t t = time(NULL); {RUN}\n took = difftime(time(NULL), t); // here\n {WAIT}"), True),
    ("a helper's timer", "may still run", samples(
        f"sdkStartTimer(&timer); {RUN}\n sdkStopTimer(&timer); // here\n {WAIT} took = sdkGetTimerValue(&timer);"), True),
    ("a function of its own", "may still run", samples(
        f"double t = seconds(); {RUN}\n took = seconds() - t; // here\n {WAIT}"), True),
    ("it starts too early", "may still run", "work<<<n / 256, 256>>>(b);\n" + samples(
        f"double t = omp_get_wtime(); // here\n {RUN} {WAIT} took = omp_get_wtime() - t;"), True),
    ("the wrong stream is waited for", "may still run", samples(
        f"{CHRONO} work<<<n / 256, 256, 0, r>>>(b); cudaStreamSynchronize(s);\n {CHRONO_STOP} // here\n {WAIT}"), True),
    ("the wrong event is waited for", "may still run", samples(
        f"{CHRONO} cudaEventRecord(start); {RUN} cudaEventSynchronize(start);\n {CHRONO_STOP} // here\n {WAIT}"), True),
    ("allocation", "allocating and freeing (1)", samples(
        f"{CHRONO} float* c; cudaMalloc(&c, bytes); {RUN} {WAIT}\n {CHRONO_STOP} // here\n cudaFree(c);"), True),
    ("a copy to the device", "copies between host and device (1)", samples(
        f"double t = seconds(); cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice); {RUN} {WAIT}\n took = seconds() - t; // here"), True),
    ("copies between events", "copies between host and device (2)", samples(
        f"cudaEventRecord(start); cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice); {RUN} "
        f"cudaMemcpy(h, a, bytes, cudaMemcpyDeviceToHost); {EVENTS_STOP}"), True),
    ("printing", "printing", samples(
        f"double t = omp_get_wtime(); for (int i = 0; i < 3; ++i) {{ {RUN} std::cout << i << std::endl; }} {WAIT}\n"
        "took = omp_get_wtime() - t; // here"), True),
    ("a file", "files (1)", samples(
        f'sdkStartTimer(&timer); {RUN} {WAIT} FILE* f = fopen("u.txt", "w"); fprintf(f, "1"); fclose(f); {RUN} {WAIT}\n'
        "sdkStopTimer(&timer); // here"), True),
    ("another stream", "another stream", samples(
        f"cudaEventRecord(start); work<<<n / 256, 256, 0, r>>>(b); {EVENTS_STOP} \n {WAIT}"), True),
    ("before it is reached", "cudaErrorNotReady", samples(
        f"cudaEventRecord(start); {RUN} cudaEventRecord(stop);\n cudaEventElapsedTime(&ms, start, stop); // here\n {WAIT}"), True),
    ("no warm-up", "first launch", samples(f"{CHRONO} {RUN} {WAIT}\n {CHRONO_STOP} // here"), False),
    ("no warm-up, events", "first launch", f"cudaEventRecord(start); {RUN} {EVENTS_STOP}", False),
    ("one sample", "is timed once", f"clock_t t = clock(); {RUN} {WAIT}\n took = clock() - t; // here", True),
]

RIGHT = [
    ("steady_clock", samples(f"{CHRONO} {RUN} {WAIT} {CHRONO_STOP}")),
    ("events", samples(f"cudaEventRecord(start); {RUN} {EVENTS_STOP}")),
    ("events of a stream", samples(
        "cudaEventRecord(start, r); work<<<n / 256, 256, 0, r>>>(b); cudaEventRecord(stop, r); cudaEventSynchronize(stop);"
        "cudaEventElapsedTime(&ms, start, stop);")),
    ("events of the default stream, which waits", samples(
        f"cudaEventRecord(start); work<<<n / 256, 256, 0, s>>>(a); {EVENTS_STOP}")),
    ("a function of its own", samples(f"double t = seconds(); {RUN} {WAIT} took = seconds() - t;")),
    ("many launches", f"clock_t t = clock(); for (int i = 0; i < 20; ++i) {RUN} {WAIT} took = clock() - t;"),
    ("a number is copied in each step", samples(
        f"double t = omp_get_wtime(); for (int i = 0; i < 3; ++i) {{ {RUN} cudaMemcpy(h, a, 4, cudaMemcpyDeviceToHost); }}"
        "took = omp_get_wtime() - t;")),
    ("a helper's timer", samples(f"sdkStartTimer(&timer); {RUN} {WAIT} sdkStopTimer(&timer);")),
    ("the host's part, and a seed", f"{RUN} srand(time(NULL)); {WAIT} double t = seconds(); h[0] = rand(); took = seconds() - t;"),
    ("printing and copies outside", samples(
        f"cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice); {CHRONO} {RUN} {WAIT} {CHRONO_STOP}\n"
        'cudaMemcpy(h, a, bytes, cudaMemcpyDeviceToHost); std::printf("%g\\n", h[0]);')),
    ("copies alone", f"{CHRONO} cudaMemcpy(a, h, bytes, cudaMemcpyHostToDevice); {CHRONO_STOP}"),
    ("two streams, both waited for", samples(
        f"{CHRONO} work<<<n / 256, 256, 0, s>>>(a); work<<<n / 256, 256, 0, r>>>(b); cudaStreamSynchronize(s);"
        f"cudaStreamSynchronize(r); {CHRONO_STOP}")),
    ("asked until it is done", samples(
        f"{CHRONO} work<<<n / 256, 256, 0, s>>>(a); while (cudaStreamQuery(s) == cudaErrorNotReady) {{}} {CHRONO_STOP}")),
    ("printed with the reading", samples(
        f'double t = omp_get_wtime(); {RUN} {WAIT} std::cout << "took " << omp_get_wtime() - t << std::endl;')),
]


class Stopwatch(CommandLineTest):
    def stopwatch_findings(self, body, warms_up):
        source = PROGRAM.replace("WARM_UP", WARM if warms_up else "").replace("BODY", body)
        self.path("prog.cu").write_text(source)
        done = self.run_program("try", "prog.cu", "--json", "-")
        self.assertTrue(done.stdout, done.stderr)
        tried = parse_json(done.stdout)["diffbench"]["try"]
        self.assertEqual((tried["by_itself"], tried["status"]), (True, 0), tried)
        self.assertEqual({f["kind"] for f in tried["findings"]} - {"stopwatch"}, set(), tried["findings"])
        self.assertEqual(done.returncode, 0, tried)
        lines = source.split("\n")
        return [("// here" in lines[int(f["where"].rpartition(":")[2]) - 1], f["message"]) for f in tried["findings"]], tried

    def test_each_wrong_stopwatch_is_named_once_with_its_line(self):
        self.assertGreaterEqual(len(WRONG), 20)
        for name, says, body, warms_up in WRONG:
            with self.subTest(name):
                found, tried = self.stopwatch_findings(body, warms_up)
                self.assertEqual([(here, says in message) for here, message in found], [(True, True)], tried["findings"])

    def test_right_ones_are_not_accused(self):
        self.assertGreaterEqual(len(RIGHT), 10)
        for name, body in RIGHT:
            with self.subTest(name):
                self.assertEqual(self.stopwatch_findings(body, warms_up=True)[0], [])


if __name__ == "__main__":
    unittest.main()
