// SPDX-License-Identifier: Apache-2.0
// Builds the page into one HTML file: dist/index.html.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/// What bench/report/Page.cmake made of solver/wasm/, where it could.
const rowSolver = fileURLToPath(new URL("dist/row_solver.wasm", import.meta.url));

/// Gives the script that module as base64, or null.
function embeddedSolver(): Plugin {
  const name = "virtual:row-solver";
  return {
    name: "embedded-solver",
    resolveId: (id) => (id === name ? `\0${name}` : null),
    load: (id) =>
      id !== `\0${name}`
        ? null
        : `export default ${existsSync(rowSolver) ? JSON.stringify(readFileSync(rowSolver, "base64")) : "null"}`,
  };
}

/// Puts the script and the style into the page, and allows this one script and no connection, so
/// that nothing in a result file can run or call anywhere. WebAssembly is allowed where there is
/// some; no text becomes a script by that.
function singleFile(): Plugin {
  return {
    name: "single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") {
          // The end of an element must not stand in a string of the script.
          script += file.code.trim().replaceAll("</script", "<\\/script");
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          style += file.source.toString().trim();
          delete bundle[name];
        }
      }
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("there is no index.html");
      const hash = createHash("sha256").update(script).digest("base64");
      const policy =
        `default-src 'none'; script-src 'sha256-${hash}'` +
        (existsSync(rowSolver) ? " 'wasm-unsafe-eval'; " : "; ") +
        "style-src 'unsafe-inline'; img-src data: blob:";
      page.source = page.source
        .toString()
        .replace(/<script type="module"[^>]*><\/script>\s*/, "")
        .replace(/<link rel="stylesheet"[^>]*>\s*/, "")
        .replace(
          "<!--policy-->",
          () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
        )
        .replace("<!--style-->", () => `<style>${style}</style>`)
        .replace("<!--script-->", () => `<script type="module">${script}</script>`);
    },
  };
}

export default defineConfig({
  plugins: [embeddedSolver(), singleFile()],
  build: {
    emptyOutDir: false, // of dist/, where the module lies
    target: "es2020",
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
  test: {
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    minWorkers: 1,
    projects: [
      { extends: true, test: { name: "data", include: ["tests/unit/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "page",
          include: ["tests/page/*.test.ts"],
          globalSetup: "tests/page/result_files.ts",
        },
      },
    ],
  },
});
