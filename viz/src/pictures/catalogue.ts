// SPDX-License-Identifier: Apache-2.0
// All pictures. Of a file those that tell the most come first: the page opens its first card, and folds the others.
import type { ResultFile } from "../data/results";
import { amortisation } from "./amortisation";
import { deviceBandwidth, hostBandwidth } from "./bandwidth";
import { clusterScaling, clusterSteps } from "./cluster";
import { clusterDepth, clusterPrediction } from "./cluster_model";
import { crossover } from "./crossover";
import { duels } from "./duels";
import { guesses } from "./guesses";
import { ladder } from "./ladder";
import { ledger } from "./ledger";
import { epochLedger, learningCurves } from "./mlp";
import { latency, throughput } from "./mlp_answers";
import { sizes, trainingThreads } from "./mlp_training";
import type { Missing, Picture } from "./picture";
import { pitfalls } from "./pitfalls";
import { advised } from "./predictions";
import { roofline } from "./roofline";
import { samples } from "./samples";
import { scaling } from "./scaling";
import { timeline } from "./timeline";
import { compared, selftest } from "./verdicts";

/** What the contents of a page list together, in the order of the page. */
const families: [string, ResultFile["experiment"][]][] = [
  ["Backends", ["comparison", "residency", "sweep", "scaling"]],
  ["Copies and mistakes", ["transfer", "pitfalls"]],
  ["Predictions", ["calibrate", "advise"]],
  ["Ranks", ["cluster"]],
  [
    "Networks",
    ["mlp_train", "mlp_depth", "mlp_width", "mlp_throughput", "mlp_scaling", "mlp_latency"],
  ],
  ["Verdicts", ["compare", "duel", "history", "selftest", "try"]],
  ["Lessons", ["lesson"]],
];
const others = "Other files";

const familyOf = ({ experiment }: ResultFile): string =>
  families.find(([, members]) => members.includes(experiment))?.[0] ?? others;

/** Those families that have files, each with its own. */
export const byFamily = (files: ResultFile[]): [string, ResultFile[]][] =>
  [...families.map(([name]) => name), others]
    .map((name): [string, ResultFile[]] => [name, files.filter((file) => familyOf(file) === name)])
    .filter(([, members]) => members.length > 0);

const makers = [
  amortisation,
  ladder,
  ledger,
  timeline,
  roofline,
  samples,
  crossover,
  scaling,
  clusterScaling,
  clusterDepth,
  clusterSteps,
  clusterPrediction,
  deviceBandwidth,
  hostBandwidth,
  pitfalls,
  learningCurves,
  epochLedger,
  sizes,
  throughput,
  trainingThreads,
  latency,
  advised,
  compared,
  duels,
  selftest,
  guesses,
];

export const picturesOf = (
  file: ResultFile,
  companions: ResultFile[] = [],
): (Picture | Missing)[] => makers.flatMap((make) => make(file, companions) ?? []);
