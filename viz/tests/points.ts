// SPDX-License-Identifier: Apache-2.0
// What holds of every picture: it is checked of results by hand, and of the files of every verb.
import { format } from "echarts/core";
import { expect } from "vitest";
import { shown } from "../src/data/table";
import type { ChartOption, Point, Series } from "../src/pictures/option";
import { dark, light } from "../src/pictures/palette";
import type { Picture } from "../src/pictures/picture";
import { written } from "../src/pictures/tooltip";
import { nearest } from "./colours";

const isGuide = (series: Series) => series.tooltip?.show === false;
const textOf = (html: string) => html.replace(/<[^>]*>/g, "\n").split("\n");

export const pointsOf = ({ series }: ChartOption): Point[] =>
  series.filter((each) => !isGuide(each)).flatMap(({ data }) => data as Point[]);

/** What a point tells stands in its tooltip, and in the picture's table; its chart has colours that all eyes tell apart. */
export function checkPicture(picture: Picture, where: string): number {
  const { option, views = [""] } = picture;
  const table = picture.table();
  const cells = new Set(
    table.rows.flatMap((row) => row.map((cell, at) => shown(cell, table.columns[at]!))),
  );
  expect(table.rows.length, where).toBe(picture.rows);
  if (option === null) return 0;
  let told = 0;
  for (const view of views.keys()) {
    for (const width of [340, 1200])
      for (const palette of [light, dark]) {
        const drawn = JSON.stringify(option(palette, width, view).series);
        const colours = [...new Set(drawn.match(/#[0-9a-f]{6}(?=")/g))].filter(
          (colour) => colour !== palette.surface,
        );
        const { apart, pair } = nearest(colours);
        expect(apart, `${where}: ${pair}`).toBeGreaterThanOrEqual(15);
      }
    const drawn = option(light, 1200, view);
    expect(
      drawn.series.filter(({ data }) => data.length === 0),
      where,
    ).toEqual([]);
    expect(drawn.tooltip.formatter).toBe(written);
    for (const point of pointsOf(drawn)) {
      const text = textOf(written({ data: point, color: "#000" }));
      expect(point.told.lines.length, where).toBeGreaterThan(0);
      for (const part of [point.told.head, ...point.told.lines.flat()])
        expect(text, where).toContain(format.encodeHTML(part));
      for (const [name, value] of point.told.lines)
        if (!/^(timeline|stack)/.test(picture.id))
          // their parts are sums and stretches
          expect(cells, `${where}: ${name} ${value}`).toContain(value);
      told += 1;
    }
  }
  expect(told, where).toBeGreaterThan(0);
  return told;
}
