// SPDX-License-Identifier: Apache-2.0
// Whether all readers can use a page: axe's rules.
import axe from "axe-core";
import type { Page } from "playwright-core";

/** Violations of any weight, best practices included: of those rules, or of all. */
export async function violations(page: Page, rules?: string[]): Promise<string[]> {
  // All tables are made alike; thousands of cells more would be looked at for nothing.
  await page
    .locator("details:not([open]) > summary", { hasText: /^Table/ })
    .evaluateAll((tables) => tables.slice(0, 2).forEach((each) => (each as HTMLElement).click()));
  await page.evaluate(axe.source);
  return page.evaluate(async (only) => {
    const { axe } = window as unknown as { axe: typeof import("axe-core") };
    const found = await axe.run(document, {
      resultTypes: ["violations"],
      ...(only ? { runOnly: only } : {}),
    });
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  }, rules);
}
