// SPDX-License-Identifier: Apache-2.0
// The field as a film: play, step, read values off under the pointer or the arrow keys.
import type { Film } from "../data/field";
import { csvOf } from "../data/table";
import { figure } from "../data/units";
import { captioned } from "./caption";
import { button, download, el } from "./dom";
import { colourBar, paint } from "./field_picture";
import { palette } from "./theme";

const framesPerSecond = 8;
/** Pixels that a saved picture is wide, at least. */
const leastWidth = 1200;

/** In whole multiples, so that a cell stays a square of one colour. */
function magnified(canvas: HTMLCanvasElement): HTMLCanvasElement {
  const factor = Math.ceil(leastWidth / canvas.width);
  const large = el("canvas", {
    width: String(factor * canvas.width),
    height: String(factor * canvas.height),
  });
  const context = large.getContext("2d")!;
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, 0, 0, large.width, large.height);
  return large;
}

/** `source` tells a saved picture of which run the film is, in lines. */
export function fieldView(film: Film, source: string[]): HTMLElement {
  let index = film.steps.length - 1;
  let values = film.frame(index);
  let timer: number | null = null;
  // The cell that is read out.
  let [column, row] = [Math.floor(film.width / 2), Math.floor(film.height / 2)];

  const canvas = el("canvas", { tabindex: "0", role: "img" });
  canvas.style.aspectRatio = `${film.width} / ${film.height}`;
  const readOut = el("p", { class: "read-out", role: "status" });
  const range = el("input", {
    type: "range",
    min: "0",
    max: String(film.steps.length - 1),
    "aria-label": "Step",
  });
  const caption = el("output");

  function read(): void {
    const value = values[row * film.width + column] ?? NaN;
    const [x, y] = [column * film.block, row * film.block];
    const where =
      film.block === 1
        ? `cell (${x}, ${y})`
        : `mean of the ${film.block}x${film.block} cells from (${x}, ${y})`;
    readOut.textContent = `${where}: ${Number.isFinite(value) ? figure(value) : "not finite"}`;
  }

  function show(next: number): void {
    index = next;
    values = film.frame(index);
    paint(canvas, film, values);
    range.value = String(index);
    const step = `step ${film.steps[index]}`;
    range.setAttribute("aria-valuetext", step);
    caption.textContent = step;
    canvas.setAttribute(
      "aria-label",
      `The field after ${step}, ${film.nx}x${film.ny} cells; arrow keys move the cell that is read out`,
    );
    read();
  }

  const play = button("Play", () => (timer === null ? start() : stop()));
  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  function start(): void {
    if (index === film.steps.length - 1) show(0);
    play.textContent = "Pause";
    timer = window.setInterval(() => {
      if (index + 1 < film.steps.length) show(index + 1);
      else stop();
    }, 1000 / framesPerSecond);
  }

  range.addEventListener("input", () => {
    stop();
    show(Number(range.value));
  });
  const move = (x: number, y: number) => {
    column = Math.min(film.width - 1, Math.max(0, x));
    row = Math.min(film.height - 1, Math.max(0, y));
    read();
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    move(
      Math.floor(((event.clientX - box.left) / box.width) * film.width),
      Math.floor(((event.clientY - box.top) / box.height) * film.height),
    );
  });
  canvas.addEventListener("keydown", (event) => {
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[
      event.key
    ] ?? [0, 0];
    if (x === 0 && y === 0) return;
    event.preventDefault();
    move(column + x!, row + y!);
  });

  const saveCsv = () => {
    const step = film.steps[index] ?? 0;
    const rows = Array.from(values, (value, cell) => [
      (cell % film.width) * film.block,
      Math.floor(cell / film.width) * film.block,
      Number.isFinite(value) ? value : null,
    ]);
    const table = { columns: [{ name: "x" }, { name: "y" }, { name: "value" }], rows };
    download(`field-${step}.csv`, new Blob([csvOf(table)], { type: "text/csv" }));
  };
  const savePng = () => {
    const step = film.steps[index];
    const title = `The field after step ${step}, ${film.nx}x${film.ny} cells, ${figure(film.low)} to ${figure(film.high)}`;
    void captioned(magnified(canvas), [title, ...source], palette()).then((png) =>
      download(`field-${step}.png`, png),
    );
  };

  const section = el(
    "section",
    { class: "card", id: "field", "aria-labelledby": "field-title", "data-picture": "field" },
    el("h2", { id: "field-title" }, "The field"),
    el(
      "p",
      { class: "reading" },
      `${film.steps.length} snapshots of a ${film.nx}x${film.ny} field, from step ${film.steps[0]} to step ${film.steps[film.steps.length - 1]}, in one scale of colours from ${figure(film.low)} to ${figure(film.high)}.`,
    ),
    canvas,
    colourBar(film),
    readOut,
    el("div", { class: "actions" }, play, el("label", { class: "step" }, range, caption)),
    el("div", { class: "actions" }, button("Save PNG", savePng), button("Save CSV", saveCsv)),
    el(
      "p",
      { class: "provenance" },
      `Snapshots from the directory ${film.directory}${film.block > 1 ? `; each point is the mean of ${film.block}x${film.block} cells` : ""}. Values have 16 bits. diffbench compares the last field of the run that writes snapshots with the reference's.`,
    ),
  );
  show(index);
  return section;
}
