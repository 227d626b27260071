// SPDX-License-Identifier: Apache-2.0
// Result files that the reader drops onto the page, or chooses. They stay until it is loaded again.
import { at, num, readable } from "../data/json";
import { shortened } from "../data/units";
import { button, el } from "./dom";

/** More than any result file; a browser would stand still over it. */
const mostBytes = 256 * 2 ** 20;
const knownSchema = 1;

/** Throws an Error (one line) for what is no result file. */
async function partOf(file: File): Promise<unknown> {
  if (file.size > mostBytes) throw new Error("is larger than any result file");
  const text = await file.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error("is not JSON, or was cut off");
  }
  const schema = num(json, "diffbench", "schema");
  if (schema === null) throw new Error("is no result file; diffbench --json FILE writes one");
  if (schema !== knownSchema)
    throw new Error(
      `has schema ${schema} and this page knows ${knownSchema}; make a page with that diffbench`,
    );
  if (at(json, "context") === undefined) throw new Error("has no context: it was cut off");
  return { ...(json as object), file: file.name };
}

/** A button for files, and what came of them. `add` gets those that can be read, in their order. */
export function dropTarget(add: (parts: unknown[]) => void): {
  controls: HTMLElement[];
  told: HTMLElement;
} {
  const told = el("p", { class: "warning", role: "status" });
  told.hidden = true;
  async function take(files: File[]): Promise<void> {
    const read = await Promise.allSettled(files.map(partOf));
    const parts = read.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const refused = read.flatMap((each, index) =>
      each.status === "rejected"
        ? [`${shortened(readable(files[index]!.name))} ${(each.reason as Error).message}`]
        : [],
    );
    told.textContent = refused.length === 0 ? "" : `Left out: ${refused.join("; ")}.`;
    told.hidden = refused.length === 0;
    if (parts.length > 0) add(parts);
  }
  const input = el("input", { type: "file", multiple: "", accept: ".json", hidden: "" });
  input.setAttribute("aria-label", "Result files");
  input.addEventListener("change", () => {
    void take([...(input.files ?? [])]);
    input.value = "";
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    void take([...(event.dataTransfer?.files ?? [])]);
  });
  return { controls: [button("Add files", () => input.click()), input], told };
}
