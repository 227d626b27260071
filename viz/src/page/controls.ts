// Labelled controls of the what-if panel.
import { el } from "./dom";

/** A slider over `values`, which need not be evenly spaced. */
export function slider(
  label: string,
  values: number[],
  start: number,
  show: (value: number) => string,
  change: (value: number) => void,
): HTMLElement {
  const output = el("output", {}, show(values[start] ?? 0));
  const input = el("input", {
    type: "range",
    min: "0",
    max: String(values.length - 1),
    step: "1",
    value: String(start),
    "aria-label": label,
    "aria-valuetext": show(values[start] ?? 0),
  });
  input.addEventListener("input", () => {
    const value = values[Number(input.value)] ?? 0;
    output.textContent = show(value);
    input.setAttribute("aria-valuetext", show(value));
    change(value);
  });
  return el("label", {}, el("span", {}, `${label}: `, output), input);
}

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
      el("option", { value: String(index), ...(index === chosen ? { selected: "" } : {}) }, name),
    ),
  );
  select.addEventListener("change", () => change(select.selectedIndex));
  select.disabled = names.length < 2;
  return el("label", {}, el("span", {}, `${label}: `), select);
}
