// Real result files of every command, made by the program under test: small, and true all the same.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const program = process.env["DIFFBENCH_PROGRAM"];

export function diffbench(directory: string, ...words: string[]): string {
  if (!program) throw new Error("DIFFBENCH_PROGRAM does not name the program; run this by ctest");
  return execFileSync(program, words.join(" ").split(" "), {
    cwd: directory,
    encoding: "utf8",
    env: { ...process.env, OMP_WAIT_POLICY: "passive" },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

const commands = {
  comparison: "--grid 48 --iters 40 --budget 1 --snapshot-every 4 --snapshot-dir snapshots",
  residency: "residency --grid 48 --iters 20 --budget 1",
  scaling: "scaling --grid 64 --iters 20 --threads 1,2 --budget 0.5",
  sweep:
    "sweep --grid 16:64:x2 --iters 4,16 --cross scalar,fused --backend scalar --backend fused --threads 1 --budget 0.2 --out sweep.jsonl",
  transfer: "transfer --max-size 256K --step 4 --budget 0.5",
  calibrate:
    "calibrate --backend fused --backend simd --dtype float32 --largest 256 --out profile.json",
  advise: "advise --profile calibrate.json --grid 96 --iters 100",
  pitfalls: "pitfalls --grid 64 --budget 1 --only no-warm-up --only dead-code --only one-sample",
  mlp: "mlp train --data disc --layers 2,4,2 --epochs 5",
  depth: "mlp depth --last 4:8:x2 --budget 0.2",
  throughput: "mlp throughput --layers 2,4,2 --budget 0.2 --most-batch 64",
  threads: "mlp scaling --layers 784,16,10 --threads 1,2 --budget 0.2",
  selftest: "selftest --trials 2 --budget 0.2",
  compare: "compare comparison.json comparison.json",
};
export type Kind = keyof typeof commands;
export const kinds = Object.keys(commands) as Kind[];

export function makeResultFiles(directory: string): void {
  for (const kind of kinds) {
    const progress = kind === "compare" ? "" : " --no-progress";
    diffbench(directory, `${commands[kind]}${progress} --json ${kind}.json`);
  }
}

export const readJson = (directory: string, name: string): any =>
  JSON.parse(readFileSync(join(directory, name), "utf8"));
