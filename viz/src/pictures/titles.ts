// SPDX-License-Identifier: Apache-2.0
// What the pictures of a file are called, by their names in addresses.
import { at, num, text } from "../data/json";
import type { ResultFile } from "../data/results";

type Title = string | ((file: ResultFile) => string);

export const titles = {
  ladder: "The ladder: time of a step",
  samples: "Samples of a row, one after the other",
  ledger: "Where the time went",
  timeline: "Timeline of a run",
  roofline: "Roofline",
  amortisation: "Amortisation: speed-up against iterations per copy",
  crossover: "Crossover: time against grid and iterations",
  scaling: ({ experiment }) =>
    `Thread scaling${experiment === "mlp_scaling" ? " of a training step" : ""}`,
  "cluster-scaling": ({ data }) =>
    text(data, "question") === "strong"
      ? "Strong scaling over ranks: one grid, divided"
      : "Weak scaling over ranks: the grid grows with them",
  "cluster-depth": "Time of a step by the depth of halos",
  "cluster-step": "Where a step of the slowest rank goes",
  "cluster-predict": ({ data }) =>
    `Predicted runs on ranks${at(data, "assumed") === false ? "" : ", from assumed rates"}`,
  "bandwidth-host": "Bandwidth of copies within the host, by size",
  "bandwidth-device": "Bandwidth to and from the GPU: pageable against pinned",
  pitfalls: "Pitfalls: the mistaken measurement against the right one",
  learning: "Learning curves",
  epochs: "Where the time of a training went",
  sizes: ({ experiment }) =>
    `A training step against the ${experiment === "mlp_depth" ? "parameters" : "width"}`,
  throughput: "Throughput against the batch",
  latency: "Latency of one answer",
  profile: "The profile: time of a cell by grid",
  advice: "Predicted runs",
  compared: "Two runs: new over old",
  guesses: ({ data }) => `Lesson ${num(data, "lesson") ?? "?"}: guesses against answers`,
  duels: "Run after run: B over A in each duel",
  selftest: "Self-test: how often a planted slowdown is found",
} satisfies Record<string, Title>;

export const titleOf = (id: keyof typeof titles, file: ResultFile): string => {
  const title: Title = titles[id];
  return typeof title === "string" ? title : title(file);
};
