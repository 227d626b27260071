// SPDX-License-Identifier: Apache-2.0
// The plain JavaScript solver: loops over typed arrays with a ring of ghost cells. Math.fround
// after each operation makes them those of float32, so the bits are the program's.
import { factor, outside, type Setting } from "./setting";
import { inPieces, type Solver } from "./solver";

/** (nx + 2) by (ny + 2) cells. */
function fillGhosts(field: Float32Array, { nx, ny, boundary }: Setting): void {
  const width = nx + 2;
  const [first, last] = boundary === "periodic" ? [ny, 1] : [1, ny];
  const [left, right] = boundary === "periodic" ? [nx, 1] : [1, nx];
  if (boundary === "dirichlet") {
    field.fill(outside, 0, width);
    field.fill(outside, (ny + 1) * width);
  } else {
    field.copyWithin(0, first * width, (first + 1) * width);
    field.copyWithin((ny + 1) * width, last * width, (last + 1) * width);
  }
  for (let y = 1; y <= ny; ++y) {
    const row = y * width;
    field[row] = boundary === "dirichlet" ? outside : field[row + left]!;
    field[row + nx + 1] = boundary === "dirichlet" ? outside : field[row + right]!;
  }
}

/** Rows from `first` to before `last`. */
function step(
  before: Float32Array,
  after: Float32Array,
  nx: number,
  first: number,
  last: number,
): void {
  const { fround } = Math;
  const width = nx + 2;
  for (let y = first + 1; y <= last; ++y) {
    const end = y * width + nx;
    for (let i = y * width + 1; i <= end; ++i) {
      const u = before[i]!;
      const upright = fround(before[i - width]! + before[i + width]!);
      const sum = fround(fround(upright + before[i - 1]!) + before[i + 1]!);
      after[i] = u + fround(factor * fround(sum - fround(4 * u)));
    }
  }
}

/** Throws a RangeError when there is no memory for it. */
export function scriptSolver(setting: Setting): Solver {
  const { nx, ny } = setting;
  const width = nx + 2;
  const cells = width * (ny + 2);
  let [before, after] = [new Float32Array(cells), new Float32Array(cells)];
  const rowOf = (y: number) => (y + 1) * width + 1;
  return {
    async upload(field) {
      await inPieces(ny, (from, to) => {
        for (let y = from; y < to; ++y) before.set(field.subarray(y * nx, (y + 1) * nx), rowOf(y));
      });
    },
    advance: (steps) =>
      // Each row of each step is a thing to do, of which many steps may fit into a piece.
      inPieces(steps * ny, (from, to) => {
        for (let row = from; row < to;) {
          const y = row % ny;
          const rows = Math.min(ny - y, to - row);
          if (y === 0) fillGhosts(before, setting);
          step(before, after, nx, y, y + rows);
          row += rows;
          if (y + rows === ny) [before, after] = [after, before];
        }
      }),
    async download() {
      const field = new Float32Array(nx * ny);
      await inPieces(ny, (from, to) => {
        for (let y = from; y < to; ++y) field.set(before.subarray(rowOf(y), rowOf(y) + nx), y * nx);
      });
      return field;
    },
  };
}
