import type { Json } from "@carillon/contract";

export type JsonMap = { readonly [name: string]: Json };

/** Text for HTML. */
export function text(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return escaped(typeof value === "string" ? value : JSON.stringify(value));
}

export function escaped(raw: string): string {
  return raw.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
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

export const code = (value: Json): string =>
  `<code>${escaped(typeof value === "string" ? value : JSON.stringify(value))}</code>`;

/** JSON with marks for its keys, texts and other values. */
export function highlighted(json: string): string {
  return escaped(json).replaceAll(
    /(&quot;(?:[^\\&]|\\.|&(?!quot;))*?&quot;)(\s*:)?|\b(true|false|null|-?\d[\d.e+-]*)\b/g,
    (all, quoted: string | undefined, colon: string | undefined) => {
      if (quoted === undefined) return `<i class="v">${all}</i>`;
      return colon === undefined ? `<i class="s">${quoted}</i>` : `<i class="k">${quoted}</i>${colon}`;
    },
  );
}
