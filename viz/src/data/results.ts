// SPDX-License-Identifier: Apache-2.0
// What every result file of diffbench (schema 1) holds, whichever command wrote it.
import { at, flag, num, readable, text, texts, type Json } from "./json";

export interface ResultFile {
  name: string;
  experiment: string;
  command: string;
  /** A line each. */
  sentences: string[];
  notes: string[];
  interrupted: boolean;
  context: Json;
  /** The part `diffbench` of the file. */
  own: Json;
  /** The part of the experiment; for a comparison, `own` itself. */
  data: Json;
}

export function readResultFile(part: Json): ResultFile {
  const own = at(part, "diffbench");
  const experiment = text(own, "experiment") || "comparison";
  return {
    name: text(part, "file") || "(no name)",
    experiment,
    command: text(own, "command"),
    sentences: String(at(own, "sentence") ?? "")
      .split("\n")
      .map(readable),
    notes: texts(own, "notes"),
    interrupted: flag(own, "interrupted") === true,
    context: at(part, "context"),
    own,
    data: experiment === "comparison" ? own : at(own, experiment),
  };
}

/** What must be the same for two files to be of one machine, each part of it as `shown`. */
export function machineOf(file: ResultFile, shown = (part: string) => part): string {
  const get = (name: string) => text(file.context, name);
  const cpu = get("cpu_model");
  if (cpu === "") return "several machines";
  const cpus = get("usable_cpus") || String(num(file.context, "num_cpus") ?? "?");
  const isa = get("isa");
  const gpu = get("gpu_name") || get("cuda");
  const host = get("host_name");
  return [
    `${cpu}, ${cpus} CPUs${isa ? `, ${isa}` : ""}`,
    ...(gpu ? [`GPU: ${gpu}`] : []),
    ...(host ? [`host ${host}`] : []),
  ]
    .map((part) => shown(part))
    .join("; ");
}
