// All pictures, in the order of the page.
import type { ResultFile } from "../data/results";
import { amortisation } from "./amortisation";
import { deviceBandwidth, hostBandwidth } from "./bandwidth";
import { clusterScaling, clusterSteps } from "./cluster";
import { clusterDepth, clusterPrediction } from "./cluster_model";
import { crossover } from "./crossover";
import { ladder } from "./ladder";
import { ledger } from "./ledger";
import { epochLedger, learningCurves } from "./mlp";
import { latency, throughput } from "./mlp_answers";
import { sizes, trainingThreads } from "./mlp_training";
import type { Missing, Picture } from "./picture";
import { pitfalls } from "./pitfalls";
import { advised, calibrated } from "./predictions";
import { roofline } from "./roofline";
import { scaling } from "./scaling";
import { timeline } from "./timeline";
import { compared, selftest } from "./verdicts";

const makers = [
  ladder,
  ledger,
  timeline,
  roofline,
  amortisation,
  crossover,
  scaling,
  clusterScaling,
  clusterDepth,
  clusterSteps,
  clusterPrediction,
  hostBandwidth,
  deviceBandwidth,
  pitfalls,
  learningCurves,
  epochLedger,
  sizes,
  throughput,
  trainingThreads,
  latency,
  calibrated,
  advised,
  compared,
  selftest,
];

export const picturesOf = (
  file: ResultFile,
  companions: ResultFile[] = [],
): (Picture | Missing)[] => makers.flatMap((make) => make(file, companions) ?? []);
