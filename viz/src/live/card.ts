// SPDX-License-Identifier: Apache-2.0
// The card "Your GPU, now": the reader chooses a problem, presses Measure, and sees it solved here.
import { chooser } from "../page/controls";
import { button, download, el } from "../page/dom";
import { movingField } from "./moving_field";
import { outcomeView } from "./outcome_view";
import { type Outcome, run, Stopped, type Watcher } from "./run";
import {
  boundaries,
  extentLimits,
  readGrid,
  readSteps,
  type Setting,
  starts,
  stepLimits,
  usual,
} from "./setting";

function textField(label: string, value: string): [HTMLElement, HTMLInputElement] {
  const input = el("input", { type: "text", value, autocomplete: "off" });
  return [el("label", {}, el("span", {}, `${label}: `), input), input];
}

export function liveCard(): HTMLElement {
  let setting = usual;
  let running = false;
  let stopping = false;
  let outcome: Outcome | null = null;

  const [gridLabel, grid] = textField(
    `Grid, N or NXxNY, ${extentLimits.low} to ${extentLimits.high} cells a side`,
    String(usual.nx),
  );
  const [stepsLabel, steps] = textField(
    `Steps, ${stepLimits.low} to ${stepLimits.high}`,
    String(usual.steps),
  );
  const controls = el(
    "div",
    { class: "controls" },
    gridLabel,
    stepsLabel,
    chooser("Boundary", [...boundaries], 0, (index) => choose({ boundary: boundaries[index]! })),
    chooser("Start", [...starts], 0, (index) => choose({ start: starts[index]! })),
  );
  const choose = (part: Partial<Setting>) => (setting = { ...setting, ...part });
  const status = el("p", { role: "status" });
  const trouble = el("p", { class: "warning", role: "alert" });
  trouble.hidden = true;
  const field = el("div", { class: "moving-field" });
  const results = el("div", { class: "outcome" });
  const act = el("button", { type: "submit" }, "Measure"); // also by Enter in a field
  const save = button("Save figures", () => {
    // No member of a result file: a browser's times do not stand beside a program's.
    const text = JSON.stringify(
      { diffbench_live: { schema: 2, ...outcome } },
      (key, value: unknown) => (key === "field" ? undefined : value),
      2,
    );
    download("diffbench-live.json", new Blob([`${text}\n`], { type: "application/json" }));
  });
  save.disabled = true;

  async function press(): Promise<void> {
    if (running) {
      stopping = true;
      return;
    }
    trouble.hidden = true;
    try {
      setting = { ...setting, ...readGrid(grid.value), steps: readSteps(steps.value) };
      await measure();
    } catch (error) {
      status.textContent = "";
      trouble.textContent = `${(error as Error).message}.`;
      trouble.hidden = false;
    }
  }

  async function measure(): Promise<void> {
    running = true;
    stopping = false;
    outcome = null;
    save.disabled = true;
    act.textContent = "Stop";
    results.replaceChildren();
    try {
      const picture = movingField(setting);
      field.replaceChildren(...picture.elements);
      const watcher: Watcher = {
        say: (what) => (status.textContent = what),
        show: (cells, step, way) => {
          status.textContent = `${way} runs`;
          picture.show(cells, step, way);
        },
        stopped: () => stopping,
      };
      outcome = await run(setting, watcher);
      results.replaceChildren(...outcomeView(outcome));
      status.textContent = "Done";
      save.disabled = false;
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      status.textContent = "Stopped: an incomplete run shows no figures";
    } finally {
      running = false;
      act.textContent = "Measure";
    }
  }

  const form = el("form", {}, controls, el("div", { class: "actions" }, act, save));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void press();
  });
  return el(
    "section",
    { class: "card", id: "live", "aria-labelledby": "live-title" },
    el("h2", { id: "live-title" }, "Your GPU, now"),
    el(
      "p",
      { class: "reading" },
      "This page solves the same problem on this device: with the program's own row kernel in WebAssembly, in plain JavaScript, and on the GPU by WebGPU, with the field staying there and going to the host and back. Nothing leaves the page. Its figures are a browser's: they never mix with those of result files.",
    ),
    form,
    status,
    trouble,
    field,
    results,
  );
}
