// SPDX-License-Identifier: Apache-2.0
// Made by vite.config.ts.
declare module "virtual:row-solver" {
  /** solver/wasm/row_solver.cpp in WebAssembly, as base64; null where the build could not make it. */
  const module: string | null;
  export default module;
}
