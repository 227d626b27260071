// SPDX-License-Identifier: Apache-2.0
// Labelled controls.
import { shortened } from "../data/units";
import { el } from "./dom";

export function chooser(
  label: string,
  names: string[],
  chosen: number,
  change: (index: number) => void,
): HTMLElement {
  const select = el(
    "select",
    {},
    ...names.map((name, index) =>
      el(
        "option",
        { value: String(index), ...(index === chosen ? { selected: "" } : {}) },
        shortened(name),
      ),
    ),
  );
  select.addEventListener("change", () => change(select.selectedIndex));
  select.disabled = names.length < 2;
  return el("label", {}, el("span", {}, `${label}: `), select);
}
