// SPDX-License-Identifier: Apache-2.0
// The live card: its fields are the program's, or as near as WebGPU promises, and whatever the
// browser refuses is said in a line. WebGPU is SwiftShader's here, so no GPU is needed; a Chromium
// that gives no adapter for it fails these tests.
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { violations } from "./access";
import { directory, openPage, saved } from "./browser";
import { diffbench } from "./result_files";

beforeAll(() => void diffbench(directory, "live -o live.html"));
const withoutAdapter = () => void (GPU.prototype.requestAdapter = async () => null);

interface Typed {
  grid?: string;
  steps?: string;
  boundary?: string;
  start?: string;
}

/** Fills the form in, presses Measure, and waits until there is something to read. */
async function measure(page: Page, typed: Typed): Promise<void> {
  const { grid, steps, boundary, start } = typed;
  if (grid !== undefined) await page.getByLabel("Grid").fill(grid);
  if (steps !== undefined) await page.getByLabel("Steps").fill(steps);
  if (boundary !== undefined) await page.getByLabel("Boundary").selectOption({ label: boundary });
  if (start !== undefined) await page.getByLabel("Start").selectOption({ label: start });
  await page.getByRole("button", { name: "Measure" }).click();
  await page.locator(".outcome > *, #live [role=alert]:visible").first().waitFor();
}

const figures = async (page: Page) => {
  const file = await saved(page, page.getByRole("button", { name: "Save figures" }));
  return JSON.parse(file.toString()).diffbench_live;
};

const digestOf = (words: string): string =>
  JSON.parse(diffbench(directory, `${words} --backend simd --baseline simd --budget 10 --json -`))
    .diffbench.field.sha256;

const readings = (page: Page) => page.locator(".outcome").innerText();

describe("without WebGPU", () => {
  it("has the program's field after 1000 steps of 640x640, and says what is missing", async () => {
    const { page, troubles } = await openPage("live.html", { before: withoutAdapter });
    await measure(page, {});
    const { wasm, script, gpu, setting } = await figures(page);
    expect(setting).toEqual({
      nx: 640,
      ny: 640,
      steps: 1000,
      boundary: "periodic",
      start: "block",
    });
    const digest = digestOf("--grid 640 --iters 1000");
    expect([wasm.digest, script.digest]).toEqual([digest, digest]);
    for (const { step } of [wasm, script]) expect(step.median).toBeGreaterThan(0);
    expect(gpu).toMatchObject({ gpu: null, distance: null, costs: null });
    expect(await readings(page)).toContain("WebGPU has no figures: this browser has WebGPU, but");
    await page.getByLabel("Paste it here").fill(`"sha256": "${digest}",`);
    expect(await page.locator(".outcome output").innerText()).toContain("Equal");
    await page
      .getByLabel("Paste it here")
      .fill(digest.replace(/./, (d) => (d === "0" ? "1" : "0")));
    expect(await page.locator(".outcome output").innerText()).toContain("Different");
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it("is one small file that allows WebAssembly, and nothing else that it did not before", async () => {
    expect(statSync(join(directory, "live.html")).size).toBeLessThanOrEqual(0.9e6);
    const { page } = await openPage("live.html");
    const policy = await page.locator("meta[http-equiv]").getAttribute("content");
    expect(policy?.replace(/'sha256-[^']+'/, "HASH")).toBe(
      "default-src 'none'; script-src HASH 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:",
    );
    await page.context().close();
  });
});

// A figure and no check, as a timing decides no test: the bar is 100 ms on a quiet machine.
it.runIf("DIFFBENCH_FIGURES" in process.env)(
  "draws frames while 8192x8192 is computed",
  async () => {
    const { page } = await openPage("live.html", { before: withoutAdapter });
    const longest = page.evaluate(
      () =>
        new Promise<number>((done) => {
          let [gap, last] = [0, performance.now()];
          const frame = (now: number) => {
            [gap, last] = [Math.max(gap, now - last), now];
            if (document.querySelector(".outcome > *")) done(gap);
            else requestAnimationFrame(frame);
          };
          requestAnimationFrame(frame);
        }),
    );
    await measure(page, { grid: "8192", steps: "10" });
    console.log(`8192x8192, 10 steps: at most ${(await longest).toFixed(0)} ms without a frame`);
    await page.context().close();
  },
);

describe("with a software adapter", () => {
  it("is within one unit in the last place under each boundary, and has no times", async () => {
    const { page, troubles } = await openPage("live.html");
    for (const boundary of ["periodic", "neumann", "dirichlet"]) {
      await measure(page, { grid: "256", steps: "25", boundary, start: "random" });
      const { wasm, script, gpu } = await figures(page);
      const digest = digestOf(`--grid 256 --iters 25 --boundary ${boundary} --init random`);
      expect([wasm.digest, script.digest]).toEqual([digest, digest]);
      expect(gpu.gpu).toMatchObject({ name: "google swiftshader", software: true });
      const { ulps, cells, differing } = gpu.distance;
      expect(gpu.distance).toMatchObject({
        cells: 65_536,
        tinyDiffering: 0,
        nonfinite: 0,
        right: true,
      });
      expect(ulps).toBeLessThanOrEqual(1);
      expect(gpu.costs).toBe(null);
      const read = await readings(page);
      expect(read).toContain("computes on the CPU (software)");
      expect(read).toMatch(/WebGPU's field is within [01] units? in the last place/);
      expect(read).not.toContain("the field stays");
      console.log(`${boundary}: ${differing} of ${cells} cells differ, ${ulps} ulp`);
    }
    expect(troubles).toEqual([]);
    await page.context().close();
  });

  it("passed off as a GPU, has times of every part; on a phone, by keyboard, for all", async () => {
    const { page, troubles } = await openPage("live.html", {
      width: 390,
      before: () => {
        for (const [name, value] of [
          ["isFallbackAdapter", false],
          ["architecture", "made up"],
        ] as const)
          Object.defineProperty(GPUAdapterInfo.prototype, name, { get: () => value });
      },
    });
    await page.getByLabel("Grid").focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("64x48");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("30");
    await page.keyboard.press("Enter");
    await page.locator(".outcome > *").first().waitFor();
    const { gpu } = await figures(page);
    const { parts, roundTrips, stepOnDevice } = gpu.costs;
    const { upload, launch, sync, step, download } = parts;
    const trips = roundTrips.map((trip: { step: object }) => trip.step);
    for (const part of [upload, launch, sync, step, download, stepOnDevice, ...trips])
      expect(part.high >= part.median && part.median > 0).toBe(true);
    expect(roundTrips.map(({ period }: { period: number }) => period)).toEqual([1, 10, 100]);
    const read = await readings(page);
    expect(read).toMatch(/^A step on the GPU takes .* while the field stays there/);
    expect(read).toContain("An integrated one shares the CPU's: then there is no bus");
    expect(read).toContain("the browser's own");
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    ).toBeLessThanOrEqual(0);
    expect(await violations(page)).toEqual([]);
    expect(troubles).toEqual([]);
    await page.context().close();
  });
});

/** What the card says where the browser's part of that is broken. */
async function said(before: () => void, typed: Typed = {}): Promise<string> {
  const { page } = await openPage("live.html", { before });
  await measure(page, { grid: "64", steps: "8", ...typed });
  const text = await page.locator("#live").innerText();
  await page.context().close();
  return text;
}

describe("says in a line", () => {
  it("what is no problem to solve", async () => {
    const { page } = await openPage("live.html");
    for (const grid of ["8", "640x", "99999", "1x2x3", ""]) {
      await measure(page, { grid });
      const refused = page.locator("#live [role=alert]", { hasText: /^Grid/ });
      await expect.poll(() => refused.innerText()).toContain(`Grid ${grid}: give N or NXxNY, `);
    }
    for (const steps of ["1e3", "0", "100001"]) {
      await measure(page, { grid: "64", steps });
      const refused = page.locator("#live [role=alert]", { hasText: `Steps ${steps}:` });
      expect(await refused.innerText()).toContain("give a whole number from 1 to 100000.");
    }
    await page.context().close();
  });

  it("that the grid is beyond the adapter, and runs the CPU's part", async () => {
    const text = await said(() =>
      Object.defineProperty(GPUAdapter.prototype, "limits", {
        get: () => ({ maxBufferSize: 10_240, maxStorageBufferBindingSize: 4096 }),
      }),
    );
    expect(text).toContain("has 16.0 KiB and the adapter takes 4.00 KiB at most; choose a smaller");
    expect(text).toMatch(/SHA-256 of the field by WebAssembly SIMD and plain JavaScript: \w{64}/);
  });

  it("that the device was lost", async () => {
    const text = await said(() => {
      const wait = GPUQueue.prototype.onSubmittedWorkDone;
      const request = GPUAdapter.prototype.requestDevice;
      let device: GPUDevice;
      let calls = 0;
      GPUAdapter.prototype.requestDevice = async function (wanted) {
        return (device = await request.call(this, wanted));
      };
      GPUQueue.prototype.onSubmittedWorkDone = function () {
        if (++calls === 3) device.destroy();
        return wait.call(this);
      };
    });
    expect(text).toMatch(
      /WebGPU has no figures: the device was lost.*; press Measure to try again\./,
    );
  });

  it("that a field is wrong, and gives it no times", async () => {
    const text = await said(() => {
      const create = GPUDevice.prototype.createShaderModule;
      GPUDevice.prototype.createShaderModule = function ({ code }) {
        return create.call(this, { code: code.replace("4.0 * u", "3.9 * u") });
      };
      Object.defineProperty(GPUAdapterInfo.prototype, "isFallbackAdapter", { get: () => false });
      Object.defineProperty(GPUAdapterInfo.prototype, "architecture", { get: () => "made up" });
    });
    expect(text).toContain("WebGPU's field is WRONG, so it has no times");
    expect(text).not.toContain("while the field stays");
  });

  it("that the module does not instantiate, or its memory is not to be had", async () => {
    const refused = await said(() => {
      const refuse = () => Promise.reject(new WebAssembly.CompileError("no SIMD here"));
      WebAssembly.instantiate = refuse as typeof WebAssembly.instantiate;
    });
    expect(refused).toContain("this browser does not take the module: no SIMD here.");
    expect(refused).toMatch(/SHA-256 of the field by plain JavaScript: \w{64}/);
    expect(refused).toContain("WebGPU's field is within");
    const full = await said(
      () => {
        WebAssembly.Memory.prototype.grow = () => {
          throw new RangeError("grow");
        };
      },
      { grid: "256" },
    );
    expect(full).toContain("the browser gives no 1 MiB; choose a smaller grid.");
  });

  it("that it was stopped, and can start again", async () => {
    const { page } = await openPage("live.html");
    await page.getByLabel("Grid").fill("64");
    await page.getByLabel("Steps").fill("100000");
    await page.getByRole("button", { name: "Measure" }).click();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator("#live [role=status]", { hasText: "Stopped" }).waitFor();
    await measure(page, { steps: "4" });
    expect((await figures(page)).gpu.distance.right).toBe(true);
    await page.context().close();
  });

  it("that there is no memory for the field", async () => {
    const text = await said(
      () => {
        window.Float32Array = new Proxy(Float32Array, {
          construct(made, [length, ...more]) {
            if (length > 1e6) throw new RangeError("Array buffer allocation failed");
            return Reflect.construct(made, [length, ...more]);
          },
        });
      },
      { grid: "1300" },
    );
    expect(text).toContain("The browser gives no memory for the field; choose a smaller grid.");
  });
});
