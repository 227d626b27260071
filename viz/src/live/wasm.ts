// SPDX-License-Identifier: Apache-2.0
// The program's own row kernel in WebAssembly (solver/wasm/row_solver.cpp), where the build had a
// compiler for it.
import module from "virtual:row-solver";
import { boundaries, factor, outside, type Setting } from "./setting";
import { inPieces, type Solver } from "./solver";

interface Exports {
  memory: WebAssembly.Memory;
  bytes_for(nx: number, ny: number): number;
  /** The address of nx by ny cells. */
  place(nx: number, ny: number, boundary: number, outside: number): number;
  /** Rows from one to before another. `advance` counts those of all steps: ny of them are one. */
  upload(from: number, to: number): void;
  advance(from: number, to: number, factor: number): void;
  download(from: number, to: number): void;
}

const pageBytes = 65_536;

/** Whether this build has it. */
export const hasWasm = module !== null;

/** Throws an Error (one line) where it does not instantiate, or there is no memory for it. */
export async function wasmSolver({ nx, ny, boundary }: Setting): Promise<Solver> {
  const bytes = Uint8Array.from(atob(module ?? ""), (each) => each.charCodeAt(0));
  const wasm = await WebAssembly.instantiate(bytes).then(
    ({ instance }) => instance.exports as unknown as Exports,
    (error: Error) => {
      throw new Error(`this browser does not take the module: ${error.message}`);
    },
  );
  const needed = wasm.bytes_for(nx, ny);
  try {
    const missing = Math.ceil(needed / pageBytes) - wasm.memory.buffer.byteLength / pageBytes;
    if (missing > 0) wasm.memory.grow(missing);
  } catch {
    const megabytes = Math.ceil(needed / 2 ** 20);
    throw new Error(`the browser gives no ${megabytes} MiB; choose a smaller grid`);
  }
  const address = wasm.place(nx, ny, boundaries.indexOf(boundary), outside);
  const cells = new Float32Array(wasm.memory.buffer, address, nx * ny);
  return {
    async upload(field) {
      await inPieces(ny, (from, to) => {
        cells.set(field.subarray(from * nx, to * nx), from * nx);
        wasm.upload(from, to);
      });
    },
    advance: (steps) => inPieces(steps * ny, (from, to) => wasm.advance(from, to, factor)),
    async download() {
      const field = new Float32Array(nx * ny);
      await inPieces(ny, (from, to) => wasm.download(from, to));
      await inPieces(ny, (from, to) => field.set(cells.subarray(from * nx, to * nx), from * nx));
      return field;
    },
  };
}
