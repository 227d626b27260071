// SPDX-License-Identifier: Apache-2.0
// Labelled controls.
import { shortened } from "../data/units";
import { button, el } from "./dom";

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

/** Of a few short names all are shown as buttons, of more one is chosen from a list. */
const mostButtons = 4;

/** One question of `viewChooser`: its answers, and what marks the one that holds. */
function question(label: string, names: string[], change: (index: number) => void) {
  if (names.length > mostButtons || names.join("").length > 90) {
    const element = chooser(label, names, 0, change);
    const select = element.querySelector("select")!;
    return { element, mark: (index: number) => void (select.selectedIndex = index) };
  }
  const buttons = names.map((name, index) => button(name, () => change(index)));
  return {
    element: el("div", { class: "variants", role: "group", "aria-label": label }, ...buttons),
    mark: (index: number) =>
      buttons.forEach((each, other) => each.setAttribute("aria-pressed", String(other === index))),
  };
}

/**
 * Controls for views that answer several questions each: `views` has the answers of each view in the order of
 * `questions`. A new answer keeps the others where there is such a view, else as many of them as any view has.
 */
export function viewChooser(
  questions: string[],
  views: string[][],
  start: number,
  choose: (view: number) => void,
): HTMLElement[] {
  let chosen = start;
  const answers = questions.map((_label, at) => [...new Set(views.map((view) => view[at]!))]);
  const asked = questions.flatMap((label, at) => {
    const names = answers[at]!;
    if (names.length < 2) return [];
    const { element, mark } = question(label, names, (index) => {
      const alike = (view: string[]) =>
        view.filter((answer, other) => answer === views[chosen]![other]).length;
      const able = views.filter((view) => view[at] === names[index]);
      const best = able.reduce((one, other) => (alike(other) > alike(one) ? other : one));
      chosen = views.indexOf(best);
      tell();
      choose(chosen);
    });
    return [{ element, mark: () => mark(names.indexOf(views[chosen]![at]!)) }];
  });
  const tell = () => asked.forEach(({ mark }) => mark());
  tell();
  return asked.map(({ element }) => element);
}
