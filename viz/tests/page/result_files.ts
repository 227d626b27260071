// SPDX-License-Identifier: Apache-2.0
// Real result files of every command, made by the program under test once for all tests of the
// page: small, and true all the same.
import { execFile, execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { writeSheets } from "../class_sheets";

const program = process.env["DIFFBENCH_PROGRAM"];
// As if nothing else ran: what a disturbed run concludes is looked at by tests of its own.
process.env["DIFFBENCH_PLANTED_LOAD"] ??= "0";

/** With budgets that leave a few samples of each row: no test looks at how long anything took. */
const commands = {
  comparison: "--grid 48 --iters 40 --budget 10 --trace trace.json",
  residency: "residency --grid 16 --iters 20 --budget 20",
  scaling: "scaling --grid 64 --iters 20 --threads 1,2 --budget 20",
  sweep:
    "sweep --grid 16:64:x2 --iters 4,16 --cross scalar,fused --backend scalar --backend fused --threads 1 --budget 20",
  transfer: "transfer --max-size 64K --step 4 --budget 5",
  advise: "advise --backend fused --backend simd --grid 96 --iters 100 --assume t4",
  pitfalls: "pitfalls --grid 64 --budget 1 --only no-warm-up --only dead-code --only one-sample",
  mlp: "mlp train --data disc --layers 2,4,2 --epochs 5",
  depth: "mlp depth --last 4:8:x2 --budget 20",
  throughput: "mlp throughput --layers 2,4,2 --budget 4 --most-batch 16",
  threads: "mlp scaling --layers 784,16,10 --engine cpu --threads 1,2 --budget 3",
  latency: "mlp latency --layers 2,4,2 --repetitions 130 --engine cpu --engine cpu_xtensor",
  strong: "cluster strong --grid 64 --iters 20 --ranks 1,2 --budget 10",
  halos: "cluster depth --grid 64 --iters 20 --network 20us,10GB/s --budget 10",
  network: "cluster predict --grid 1024 --rate 10 --network 6us,10GB/s --ranks 1:64:x4",
  selftest: "selftest --trials 2 --budget 1",
  assumed: "--grid 48 --iters 40 --budget 10 --backend fused --backend simd --assume t4",
  compare: "compare comparison.json comparison.json",
};
export type Kind = keyof typeof commands;
export const kinds = Object.keys(commands) as Kind[];

export function diffbench(directory: string, ...words: string[]): string {
  if (!program) throw new Error("DIFFBENCH_PROGRAM does not name the program; run this by ctest");
  return execFileSync(program, words.join(" ").split(" "), {
    cwd: directory,
    encoding: "utf8",
    env: { ...process.env, OMP_WAIT_POLICY: "passive" },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export const readJson = (directory: string, name: string): any =>
  JSON.parse(readFileSync(join(directory, name), "utf8"));

/** A result file as if nothing else had run meanwhile: of disturbed figures the page concludes nothing. */
export function settle(directory: string, name: string): void {
  const path = join(directory, name);
  writeFileSync(path, readFileSync(path, "utf8").replace(/("disturbed":\s*)true/g, "$1false"));
}

declare module "vitest" {
  interface ProvidedContext {
    /** With a file of every kind, and report.html of them all. */
    directory: string;
    /** Where Chromium, started once, is to be reached. */
    browser: string;
  }
}

/** Two at a time, as no test looks at how long anything took; but those that read what others wrote follow them. */
async function runAll(directory: string): Promise<void> {
  const run = promisify(execFile);
  const waiting = [...kinds];
  const done = new Map<string, Promise<void>>();
  const finish = new Map<string, () => void>();
  for (const kind of kinds) done.set(kind, new Promise((resolve) => finish.set(kind, resolve)));
  const worker = async () => {
    for (let kind = waiting.shift(); kind !== undefined; kind = waiting.shift()) {
      if (kind === "compare") await done.get("comparison");
      const progress = kind === "compare" ? "" : " --no-progress";
      await run(program!, `${commands[kind]}${progress} --json ${kind}.json`.split(" "), {
        cwd: directory,
        env: { ...process.env, OMP_WAIT_POLICY: "passive" },
      });
      settle(directory, `${kind}.json`);
      finish.get(kind)!();
    }
  };
  await Promise.all([worker(), worker()]);
}

/** Runs before all tests of the page; what it returns, after them. */
export default async function setup({ provide }: TestProject) {
  if (!program) throw new Error("DIFFBENCH_PROGRAM does not name the program; run this by ctest");
  const directory = mkdtempSync(join(tmpdir(), "diffbench-page-"));
  provide("directory", directory);
  // Its sandbox refuses to run as root; without a GPU, emulating one for charts costs time. WebGPU is that of
  // SwiftShader.
  const browser = await chromium.launchServer({
    executablePath: process.env["DIFFBENCH_CHROMIUM"] ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--enable-unsafe-webgpu",
      "--use-webgpu-adapter=swiftshader",
    ],
  });
  provide("browser", browser.wsEndpoint());
  copyFileSync(new URL("../duels.jsonl", import.meta.url), join(directory, "duels.jsonl"));
  await runAll(directory);
  const files = kinds.map((kind) => `${kind}.json`);
  const sheets = writeSheets(directory, 30);
  diffbench(directory, "report", ...files, ...sheets, "-o report.html");
  return async () => {
    await browser.close();
    rmSync(directory, { recursive: true, force: true });
  };
}
