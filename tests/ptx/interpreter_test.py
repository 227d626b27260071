# SPDX-License-Identifier: Apache-2.0
"""The interpreter itself, on PTX written here: arithmetic, errors, and a memory in which luck orders nothing."""
import fractions
import math
import unittest

import numpy as np

import arithmetic
from launch import Launch, LaunchFailure, Schedule
from machine import Device
from opcodes import operation
from ptx_text import Module, PtxError

SEEDS = range(8)


def kernel_of(parameters, body, outside=""):
    declared = ", ".join(f".param .b64 k_param_{i}" for i in range(parameters))
    return Module(f".version 8.0\n.target sm_90\n.address_size 64\n{outside}\n.visible .entry k({declared})\n"
                  f"{{ .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<40>; {body} }}").kernel("k")


class Arithmetic(unittest.TestCase):
    def numbers(self, dtype, count=4000):
        random = np.random.default_rng(1)
        exponent = random.integers(-40, 40, count)
        return (random.standard_normal(count) * 2.0 ** exponent).astype(dtype)

    def test_a_product_and_a_sum_are_rounded_once(self):
        for dtype, fma in ((np.float32, arithmetic.fma32), (np.float64, arithmetic.fma64)):
            a, b = self.numbers(dtype), self.numbers(dtype)[::-1].copy()
            # Sums that cancel, that are a half of the last place away, and that lie far apart.
            for c in (self.numbers(dtype) * dtype(7), -a * b, (a * b * dtype(2.0 ** 23)), np.zeros_like(a)):
                found = fma(a, b, c)
                exact = [fractions.Fraction(float(x)) * fractions.Fraction(float(y)) + fractions.Fraction(float(z))
                         for x, y, z in zip(a, b, c)]
                if dtype is np.float64:
                    expected = np.array([float(value) for value in exact])
                else:
                    expected = np.array([self.rounded_once(value) for value in exact], dtype)
                np.testing.assert_array_equal(found, expected)

    @staticmethod
    def rounded_once(value):
        """To float32, ties to even."""
        near = np.float32(float(value))
        steps = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
        return min(steps, key=lambda x: (abs(fractions.Fraction(float(x)) - value), int(x.view(np.uint32)) & 1))

    def test_fused_at_the_ends_of_the_range(self):
        tiny, huge = np.float64(5e-324), np.float64(1.7e308)
        self.assertEqual(arithmetic.fma64(tiny, np.float64(0.5), tiny), 5e-324 * 2)
        self.assertEqual(arithmetic.fma64(huge, np.float64(2), -huge), 1.7e308)
        self.assertEqual(arithmetic.fma64(huge, huge, np.float64(1)), math.inf)
        self.assertTrue(np.isnan(arithmetic.fma64(np.float64(np.inf), np.float64(0), tiny)))
        self.assertEqual(arithmetic.fma32(np.float32(3e38), np.float32(4), np.float32(-3e38)), np.float32(np.inf))
        self.assertEqual(arithmetic.fma32(np.float32(3e38), np.float32(-2), np.float32(3e38)), np.float32(-3e38))

    def test_directed_roundings(self):
        one, third = np.float32(1), np.float32(1 / 3)
        self.assertLess(arithmetic.fma32(third, third, one, "rm"), arithmetic.fma32(third, third, one, "rp"))
        self.assertEqual(arithmetic.fma32(third, third, one, "rz"), arithmetic.fma32(third, third, one, "rm"))
        self.assertEqual(arithmetic.fma32(-third, third, -one, "rz"), arithmetic.fma32(-third, third, -one, "rp"))

    def test_integers(self):
        def run(opcode, *values, kind=np.uint32):
            return int(operation(opcode).compute(*(np.array([v]).astype(kind) for v in values))[0])
        self.assertEqual(run("div.s32", -7, 2, kind=np.int32), -3)
        self.assertEqual(run("rem.s32", -7, 2, kind=np.int32), -1)
        self.assertEqual(run("rem.s32", 7, -2, kind=np.int32), 1)
        self.assertEqual(run("mul.wide.s32", -2, 3, kind=np.int32), -6)
        self.assertEqual(run("shl.b32", 1, 40), 0)
        self.assertEqual(run("shr.u32", 5, 1), 2)
        self.assertEqual(int(operation("shr.s32").compute(np.int32([-8]), np.uint32([40]))[0]), -1)
        self.assertEqual(run("prmt.b32", 0x33221100, 0x77665544, 0x5410), 0x55441100)
        self.assertEqual(run("bfi.b64", 0xabc, 0x1111111111111111, 32, 8, kind=np.uint64), 0x111111bc11111111)
        self.assertEqual(int(operation("cvt.rzi.s32.f32").compute(np.float32([-3.9]))[0]), -3)
        self.assertEqual(int(operation("cvt.rzi.s32.f32").compute(np.float32([3e20]))[0]), 2 ** 31 - 1)

    def test_what_is_not_a_number_is_not_ordered(self):
        nan, one = np.float32([np.nan]), np.float32([1])
        for opcode, expected in {"eq": False, "ne": False, "lt": False, "geu": True, "neu": True, "nan": True,
                                 "num": False}.items():
            self.assertIs(bool(operation(f"setp.{opcode}.f32").compute(nan, one)[0]), expected, opcode)


class Errors(unittest.TestCase):
    def run_body(self, body, parameters=1, values=32, **launch):
        device = Device()
        at = device.put(np.zeros(values, np.uint32))
        device.launch(kernel_of(parameters, body), Launch((1, 1), (32, 1), **launch),
                      [np.int64(at)] * parameters, Schedule())
        return device.get(at, np.uint32)

    def test_an_opcode_is_known_or_an_error_by_name(self):
        for line in ("frobnicate.b32 %r1, %r2;", "add.sat.s32 %r1, %r2, %r3;", "fma.rn.ftz.f32 %r1, %r2, %r3, %r4;",
                     "ld.global.frob.b32 %r1, [%rd1];", "bar.red.popc.u32 %r1, 0, %p1;",
                     "atom.global.add.u32 %r1, [%rd1], 1;",
                     "mov.u32 %r1, %clock;"):
            with self.subTest(line), self.assertRaises(PtxError) as raised:
                self.run_body(line + " ret;")
            self.assertTrue(str(raised.exception), line)

    def test_accesses_beyond_an_array_and_askew(self):
        for line in ("ld.global.b32 %r1, [%rd1+128];", "st.global.b32 [%rd1+-4], %r1;", "ld.global.b32 %r1, [%rd1+2];",
                     "ld.global.v4.b32 {%r1,%r2,%r3,%r4}, [%rd1+8];", "st.shared.b32 [%r1], %r2;"):
            with self.subTest(line), self.assertRaises(LaunchFailure):
                self.run_body(f"ld.param.b64 %rd1, [k_param_0]; mov.b32 %r1, 0x1000040; {line} ret;", shared_bytes=64)

    def test_lanes_that_do_not_come(self):
        lane = "ld.param.b64 %rd1, [k_param_0]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 16;"
        shuffle = "shfl.sync.down.b32 %r2, %r1, 1, 31, -1;"
        with self.assertRaises(LaunchFailure):
            self.run_body(f"{lane} @%p1 ret; {shuffle} ret;")
        with self.assertRaises(LaunchFailure):
            self.run_body(f"{lane} @%p1 bra $L; {shuffle} bra $E; $L: {shuffle} $E: ret;")
        with self.assertRaises(LaunchFailure):
            self.run_body(f"{lane} @%p1 bra $L; bar.sync 0; bra $E; $L: bar.sync 0; $E: ret;")

    def test_lanes_meet_again(self):
        found = self.run_body("""
          ld.param.b64 %rd1, [k_param_0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
          mov.b32 %r3, 0;
          $L: add.s32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra $L;
          shfl.sync.up.b32 %r2|%p2, %r3, 1, 0, -1; @%p2 add.s32 %r2, %r2, 100; st.global.b32 [%rd3], %r2; ret;""")
        self.assertEqual(found.tolist(), [1, 101, *(100 + i for i in range(1, 31))])

    def test_functions_are_called(self):
        module = """.func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %r<3>; .reg .pred %p<2>;
          ld.param.b32 %r1, [a]; setp.gt.u32 %p1, %r1, 5; @%p1 bra $X; add.s32 %r1, %r1, %r1;
          $X: st.param.b32 [r], %r1; ret; }"""
        body = """ld.param.b64 %rd1, [k_param_0]; mov.u32 %r1, %tid.x;
          mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
          { .param .b32 param0; st.param.b32 [param0], %r1; .param .b32 retval0;
          call.uni (retval0), twice, (param0); ld.param.b32 %r2, [retval0]; }
          { .param .b32 param0; st.param.b32 [param0], %r2; .param .b32 retval0;
          call.uni (retval0), twice, (param0); ld.param.b32 %r2, [retval0]; }
          st.global.b32 [%rd3], %r2; ret;"""
        device = Device()
        at = device.put(np.zeros(32, np.uint32))
        device.launch(kernel_of(1, body, module), Launch((1, 1), (32, 1)), [np.int64(at)], Schedule())
        self.assertEqual(device.get(at, np.uint32)[:8].tolist(), [0, 4, 8, 6, 8, 10, 6, 7])


# Block 0 stores data, then a flag; block 1 waits for the flag, then loads the data and stores what it got.
MESSAGE = """
  ld.param.b64 %rd1, [k_param_0]; ld.param.b64 %rd2, [k_param_1]; ld.param.b64 %rd3, [k_param_2];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd3, %rd4;
  mov.u32 %r2, %ctaid.x; setp.ne.s32 %p1, %r2, 0; @%p1 bra $READ;
  st.global.b32 [%rd5], 7; {release} ret;
  $READ: {acquire} setp.eq.s32 %p2, %r3, 0; @%p2 bra $READ; {fence}
  ld.global.b32 %r4, [%rd5]; st.global.b32 [%rd6], %r4; ret;"""


class MemoryModel(unittest.TestCase):
    def message(self, release, acquire, fence=""):
        """Whether the data come with the flag, under each seed."""
        body = MESSAGE.replace("{release}", release).replace("{acquire}", acquire).replace("{fence}", fence)
        came = []
        for seed in SEEDS:
            device = Device()
            data, flag, result = (device.put(np.zeros(count, np.uint32)) for count in (32, 1, 32))
            device.launch(kernel_of(3, body), Launch((2, 1), (32, 1)), [np.int64(at) for at in (data, flag, result)],
                          Schedule(seed, gangs=2))
            came.append(bool((device.get(result, np.uint32) == 7).all()))
        return came

    def test_a_release_and_an_acquire_carry_the_data(self):
        self.assertTrue(all(self.message("st.release.gpu.b32 [%rd2], 1;", "ld.acquire.gpu.b32 %r3, [%rd2];")))

    def test_so_do_fences(self):
        self.assertTrue(all(self.message("fence.acq_rel.gpu; st.relaxed.gpu.b32 [%rd2], 1;",
                                         "ld.relaxed.gpu.b32 %r3, [%rd2];", "fence.acq_rel.gpu;")))
        self.assertTrue(all(self.message("membar.gl; st.volatile.b32 [%rd2], 1;",
                                         "ld.volatile.b32 %r3, [%rd2];", "membar.gl;")))

    def test_half_of_it_is_not_enough(self):
        for pair in (("st.relaxed.gpu.b32 [%rd2], 1;", "ld.acquire.gpu.b32 %r3, [%rd2];"),
                     ("st.release.gpu.b32 [%rd2], 1;", "ld.relaxed.gpu.b32 %r3, [%rd2];"),
                     ("st.global.b32 [%rd2], 1;", "ld.global.b32 %r3, [%rd2];"),
                     ("st.release.cta.b32 [%rd2], 1;", "ld.acquire.gpu.b32 %r3, [%rd2];"),
                     ("st.release.gpu.b32 [%rd2], 1;", "ld.acquire.cta.b32 %r3, [%rd2];"),
                     ("st.relaxed.gpu.b32 [%rd2], 1; fence.acq_rel.gpu;", "ld.acquire.gpu.b32 %r3, [%rd2];")):
            with self.subTest(pair):
                self.assertFalse(all(self.message(*pair)))
        with self.subTest("a fence of the block"):
            self.assertFalse(all(self.message("fence.acq_rel.cta; st.relaxed.gpu.b32 [%rd2], 1;",
                                              "ld.acquire.gpu.b32 %r3, [%rd2];")))

    def packets(self, store, load):
        """Whether 16 bytes that are stored and loaded without an order are whole: all the old ones or all the new."""
        body = """ld.param.b64 %rd1, [k_param_0]; ld.param.b64 %rd2, [k_param_1]; mov.u32 %r1, %tid.x;
          mul.wide.u32 %rd4, %r1, 16; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; mov.b64 %rd8, 0x200000002;
          mov.u32 %r2, %ctaid.x; setp.ne.s32 %p1, %r2, 0; @%p1 bra $READ; {store} ret;
          $READ: {load} st.global.v2.b64 [%rd6], {%rd9, %rd10}; ret;"""
        device = Device()
        given, found = device.put(np.full(128, 1, np.uint32)), device.put(np.zeros(128, np.uint32))
        kernel = kernel_of(2, ".reg .b128 %q<3>; " + body.replace("{store}", store).replace("{load}", load))
        device.launch(kernel, Launch((2, 1), (32, 1)), [np.int64(given), np.int64(found)], Schedule())
        rows = device.get(found, np.uint32, (32, 4))
        return {tuple(row) for row in rows.tolist()} <= {(1,) * 4, (2,) * 4}

    def test_packets_are_whole_where_accesses_are_of_16_bytes_and_relaxed(self):
        self.assertTrue(self.packets("mov.b128 %q1, {%rd8, %rd8}; st.relaxed.gpu.b128 [%rd5], %q1;",
                                     "ld.relaxed.gpu.b128 %q2, [%rd5]; mov.b128 {%rd9, %rd10}, %q2;"))
        self.assertFalse(self.packets("st.global.v2.b64 [%rd5], {%rd8, %rd8};",
                                      "ld.global.v2.b64 {%rd9, %rd10}, [%rd5];"))

    def exchange(self, barrier):
        """Each thread of a block of two warps reads what one of the other warp stored, twice."""
        body = f"""ld.param.b64 %rd1, [k_param_0]; mov.u32 %r1, %tid.x; xor.b32 %r2, %r1, 32; shl.b32 %r3, %r1, 2;
          shl.b32 %r4, %r2, 2; mov.b32 %r5, 0x1000000; add.s32 %r6, %r5, %r3; add.s32 %r7, %r5, %r4;
          st.shared.b32 [%r6], %r1; {barrier[0]} ld.shared.b32 %r8, [%r7]; {barrier[1]}
          add.s32 %r9, %r1, 1000; st.shared.b32 [%r6], %r9; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
          st.global.b32 [%rd3], %r8; ret;"""
        right = []
        for seed in SEEDS:
            device = Device()
            at = device.put(np.zeros(64, np.uint32))
            device.launch(kernel_of(1, body), Launch((1, 1), (64, 1), shared_bytes=256), [np.int64(at)],
                          Schedule(seed, gangs=2))
            right.append(device.get(at, np.uint32).tolist() == [i ^ 32 for i in range(64)])
        return right

    def test_barriers_of_a_block(self):
        self.assertTrue(all(self.exchange(["bar.sync 0;", "bar.sync 0;"])))
        self.assertFalse(all(self.exchange(["", "bar.sync 0;"])))
        self.assertFalse(all(self.exchange(["bar.sync 0;", ""])))

    def cluster(self, arrive):
        """Block 0 stores into the memory of block 1."""
        body = f"""ld.param.b64 %rd1, [k_param_0]; mov.u32 %r1, %tid.x; shl.b32 %r3, %r1, 2;
          mov.u32 %r5, %cluster_ctarank; mov.b32 %r8, 0x1000000;
          mapa.shared::cluster.u32 %r7, %r8, 1; add.s32 %r9, %r7, %r3; setp.ne.s32 %p1, %r5, 0;
          @!%p1 st.shared::cluster.b32 [%r9], %r1; {arrive} barrier.cluster.wait.aligned;
          ld.shared.b32 %r4, [%r9]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
          @%p1 st.global.b32 [%rd3], %r4; ret;"""
        right = []
        for seed in SEEDS:
            device = Device()
            at = device.put(np.zeros(32, np.uint32))
            device.launch(kernel_of(1, body), Launch((2, 1), (32, 1), shared_bytes=128, cluster=2), [np.int64(at)],
                          Schedule(seed, gangs=2))
            right.append(device.get(at, np.uint32).tolist() == list(range(32)))
        return right

    def test_barriers_of_a_cluster(self):
        self.assertTrue(all(self.cluster("barrier.cluster.arrive.aligned;")))
        self.assertFalse(all(self.cluster("barrier.cluster.arrive.relaxed.aligned;")))


if __name__ == "__main__":
    unittest.main()
