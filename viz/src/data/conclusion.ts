// SPDX-License-Identifier: Apache-2.0
// What may be concluded from figures, in the words of the program: figures that were measured beside
// other programs are shown, and conclude nothing. Every sentence and mark of the page asks here.

/** A file, or a profile. */
interface Evidence {
  disturbed: boolean;
}

export const concludes = ({ disturbed }: Evidence): boolean => !disturbed;

export const noConclusion =
  "No conclusion: other programs were running, so these figures show nothing.";

export const concluded = (evidence: Evidence, finding: string): string =>
  concludes(evidence) ? finding : noConclusion;
