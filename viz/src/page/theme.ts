// SPDX-License-Identifier: Apache-2.0
// Light or dark, as the system says.
import { dark, light, type Palette } from "../pictures/palette";

const system = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");

/** Paper is white. */
export const palette = (): Palette => (system.matches && !printing.matches ? dark : light);

/** Calls `listener` after each change of the colours. */
export function onTheme(listener: () => void): void {
  for (const query of [system, printing]) query.addEventListener("change", listener);
}
