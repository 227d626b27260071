// SPDX-License-Identifier: Apache-2.0
// Elements. Text goes in as text nodes only, so that no name in a file is ever read as markup.

type Child = Node | string | null;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

export function button(label: string, act: () => void): HTMLButtonElement {
  const element = el("button", { type: "button" }, label);
  element.addEventListener("click", act);
  return element;
}

/** Hands the reader a file made here. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
