// SPDX-License-Identifier: Apache-2.0
// An outcome on the page.
import { el } from "../page/dom";
import { tableView } from "../page/table_view";
import type { Outcome } from "./run";
import { commandOf } from "./setting";
import { cpuLines, gpuLines, labels, partsTable, sentence, stepsTable } from "./words";

/** The digest, how to get the program's, and a place to hold one against the other. */
function digestView({ setting, script, wasm }: Outcome): HTMLElement[] {
  const ways = [wasm, script].filter((way) => way.missing === null);
  const own = ways[0]?.digest ?? null;
  if (own === null) return [];
  const names = ways.map((way) => way.name).join(" and ");
  const verdict = el("output", {});
  const input = el("input", { type: "text", size: "64", spellcheck: "false", autocomplete: "off" });
  input.addEventListener("input", () => {
    const typed = input.value.toLowerCase().match(/[0-9a-f]{64}/)?.[0];
    verdict.textContent =
      input.value.trim() === ""
        ? ""
        : typed === undefined
          ? "A SHA-256 has 64 hexadecimal digits."
          : typed === own
            ? "Equal: the program has the same field, to the last bit."
            : "Different: not the same field. Is it of the same problem?";
  });
  return [
    el("p", { class: "digest" }, `SHA-256 of the field by ${names}: `, el("code", {}, own)),
    el("p", {}, "The program prints its own with ", el("code", {}, commandOf(setting))),
    el("label", { class: "actions" }, el("span", {}, "Paste it here: "), input),
    el("p", {}, verdict),
  ];
}

export function outcomeView(outcome: Outcome): HTMLElement[] {
  const said = sentence(outcome);
  const steps = stepsTable(outcome);
  const parts = partsTable(outcome);
  return [
    ...(said === null ? [] : [el("p", { class: "sentence" }, said)]),
    ...[...cpuLines(outcome), ...gpuLines(outcome.gpu)].map((line) => el("p", {}, line)),
    ...(steps.rows.length === 0 ? [] : [tableView(steps, "Times of a step")]),
    ...(parts === null
      ? []
      : [
          el("h3", {}, "What a run on the GPU consists of"),
          tableView(parts, "Parts of a GPU run"),
        ]),
    ...digestView(outcome),
    el("ul", { class: "notes" }, ...labels(outcome).map((label) => el("li", {}, label))),
  ];
}
