import type { Json } from "@carillon/contract";

export type JsonMap = { readonly [name: string]: Json };

/** Cells are HTML already. */
export function table(caption: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const head = heads.map((one) => (one === "" ? "<td></td>" : `<th scope="col">${one}</th>`)).join("");
  const lines = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  return `<div class="wide"><table><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${lines.join("")}</tbody></table></div>`;
}

export function mapOf(value: Json | undefined): JsonMap {
  return typeof value === "object" && value !== null && !isList(value) ? value : {};
}

export function listOf(value: Json | undefined): readonly Json[] {
  return value !== undefined && isList(value) ? value : [];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export function text(value: Json | undefined): string {
  return value === undefined || value === null
    ? ""
    : escaped(typeof value === "string" ? value : JSON.stringify(value));
}

export function escaped(raw: string): string {
  return raw.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
