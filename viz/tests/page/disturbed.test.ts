// SPDX-License-Identifier: Apache-2.0
// Files of all commands as if other programs had run meanwhile: the page shows their figures and concludes nothing.
import { expect, it } from "vitest";
import { noConclusion } from "../../src/data/conclusion";
import { readResultFile, type ResultFile } from "../../src/data/results";
import { picturesOf } from "../../src/pictures/catalogue";
import { light } from "../../src/pictures/palette";
import { isMissing, type Picture, readingOf } from "../../src/pictures/picture";
import { storyPicture } from "../../src/pictures/story";
import { directory } from "./browser";
import { kinds, readJson } from "./result_files";

const files = kinds.map((kind): ResultFile => {
  const result = readJson(directory, `${kind}.json`);
  return readResultFile({ ...result, diffbench: { ...result.diffbench, disturbed: true } });
});
const variantsOf = (picture: Picture) => (picture.variants ?? [""]).map((_name, index) => index);

it("no picture concludes from them, in its sentence or by a mark", () => {
  for (const file of files)
    for (const picture of picturesOf(file)) {
      if (isMissing(picture) || picture.timeless === true) continue;
      for (const variant of variantsOf(picture)) {
        expect(readingOf(picture, variant), `${file.experiment}: ${picture.id}`).toBe(noConclusion);
        const drawn = JSON.stringify([picture.option(light, false, variant), picture.table.rows]);
        expect(drawn, `${file.experiment}: ${picture.id}`).not.toMatch(/wins from|the best"|best:/);
      }
    }
});

it("nor does the story", () => {
  const { picture } = storyPicture(files)!;
  for (const variant of variantsOf(picture)) expect(readingOf(picture, variant)).toBe(noConclusion);
});
