// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says, until the reader chooses.
import { dark, light, type Palette } from "../pictures/palette";
import { button } from "./dom";
import { keep, kept } from "./kept";
import { whenGone } from "./lifetime";

const system = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");
const listeners = new Set<() => void>();

const isDark = () =>
  !printing.matches && (kept("theme") === undefined ? system.matches : kept("theme") === "dark");

/** Paper is white. */
export const palette = (): Palette => (isDark() ? dark : light);

/** Calls `listener` after each change of the colours, while this page is there. */
export function onTheme(listener: () => void): void {
  listeners.add(listener);
  whenGone(() => listeners.delete(listener));
}

function apply(): void {
  const chosen = kept("theme");
  if (chosen !== undefined) document.documentElement.dataset["theme"] = chosen;
  for (const listener of listeners) listener();
}

export function themeButton(): HTMLElement {
  const element = button("", () => {
    keep("theme", isDark() ? "light" : "dark");
    apply();
  });
  const label = () => (element.textContent = isDark() ? "Light colours" : "Dark colours");
  onTheme(label);
  label();
  return element;
}

system.addEventListener("change", apply);
printing.addEventListener("change", apply);
apply();
