// SPDX-License-Identifier: Apache-2.0
// Where the numbers come from: file, command, machine, program, date.
import { facts, text } from "../data/json";
import { machineOf, type ResultFile } from "../data/results";
import { el } from "./dom";

export function provenance(file: ResultFile): HTMLElement {
  const get = (name: string) => text(file.context, name);
  const parts = [
    file.name,
    get("date"),
    `diffbench ${get("diffbench_version")}${get("git_sha") ? ` (${get("git_sha").slice(0, 10)})` : ""}`,
    get("compiler"),
    machineOf(file),
  ];
  return el(
    "p",
    { class: "provenance" },
    el("code", {}, file.command),
    el("br"),
    parts.filter((part) => part !== "").join(" · "),
  );
}

/** Everything that the file says of its machine and build. */
export function contextTable(file: ResultFile): HTMLElement {
  return el(
    "dl",
    { class: "context" },
    ...facts(file.context).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
  );
}
