import { CarillonError } from "@carillon/core";

/** A stretch of SQL text of one kind. The texts of all segments, joined, are the input. */
export interface Segment {
  readonly kind: "code" | "string" | "identifier" | "comment" | "dollar";
  readonly text: string;
}

/** The opening of each kind of segment other than code. */
const opening = /'|"|--|\/\*|\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$/g;

/**
 * Cuts SQL into code, literals, quoted identifiers, comments and dollar-quoted bodies, so that a rewrite or a split
 * never acts inside a literal. An unclosed literal or comment extends to the end; the server reports it.
 */
export function segmentsOf(sql: string): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  let at = 0;
  while (at < sql.length) {
    opening.lastIndex = at;
    const found = opening.exec(sql);
    if (found === null) break;
    const [mark] = found;
    const kind = kindOf(mark);
    if (kind === "dollar" && /[A-Za-z0-9_$]/.test(sql.charAt(found.index - 1))) {
      at = found.index + 1; // a dollar sign inside an identifier opens nothing
      continue;
    }
    if (found.index > from) segments.push({ kind: "code", text: sql.slice(from, found.index) });
    at = endOf(sql, found.index, mark);
    segments.push({ kind, text: sql.slice(found.index, at) });
    from = at;
  }
  if (from < sql.length) segments.push({ kind: "code", text: sql.slice(from) });
  return segments;
}

function kindOf(mark: string): Segment["kind"] {
  if (mark === "'") return "string";
  if (mark === '"') return "identifier";
  return mark.startsWith("$") ? "dollar" : "comment";
}

/** The index just after the segment that opens at `start` with `mark`. */
function endOf(sql: string, start: number, mark: string): number {
  const inside = start + mark.length;
  if (mark === "--") return indexAfter(sql, "\n", inside);
  if (mark === "/*") return endOfBlockComment(sql, inside);
  if (mark.startsWith("$")) return indexAfter(sql, mark, inside);
  const escapes = mark === "'" && /(?<![A-Za-z0-9_$])[eE]$/.test(sql.slice(Math.max(0, start - 2), start));
  return endOfQuoted(sql, inside, mark, escapes);
}

function indexAfter(sql: string, mark: string, from: number): number {
  const found = sql.indexOf(mark, from);
  return found === -1 ? sql.length : found + mark.length;
}

/** A doubled quote stays inside; a backslash escapes only in an E'' literal. */
function endOfQuoted(sql: string, from: number, quote: string, escapes: boolean): number {
  for (let at = from; at < sql.length; at++) {
    const char = sql.charAt(at);
    if (escapes && char === "\\") at++;
    else if (char === quote) {
      if (sql.charAt(at + 1) !== quote) return at + 1;
      at++;
    }
  }
  return sql.length;
}

/** Block comments nest in PostgreSQL. */
function endOfBlockComment(sql: string, from: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = from;
  let depth = 1;
  for (let found = edge.exec(sql); found !== null; found = edge.exec(sql)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  return sql.length;
}

/** The statements of a text, cut at semicolons in code; comments alone are no statement. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let text = "";
  let hasCode = false;
  const close = (): void => {
    if (hasCode) statements.push(text.trim());
    text = "";
    hasCode = false;
  };
  for (const segment of segmentsOf(sql)) {
    if (segment.kind !== "code") {
      text += segment.text;
      hasCode ||= segment.kind !== "comment";
      continue;
    }
    const parts = segment.text.split(";");
    parts.forEach((part, index) => {
      text += part;
      hasCode ||= part.trim() !== "";
      if (index < parts.length - 1) close();
    });
  }
  close();
  return statements;
}

const valid = /^[a-z_][a-z0-9_]{0,62}$/;
const qualifier = /(?<![A-Za-z0-9_$.])carillon\./g;

/** Refuses a schema name that would need escaping, or that PostgreSQL keeps for itself. */
export function assertSchemaName(schema: string): void {
  if (valid.test(schema) && !schema.startsWith("pg_")) return;
  throw new CarillonError(
    "schema_name_invalid",
    `The schema name ${JSON.stringify(schema)} is not allowed: use at most 63 of a-z, 0-9 and _, not beginning with a digit or with pg_.`,
  );
}

/** The name of the schema, quoted for SQL. */
export function quotedSchema(schema: string): string {
  assertSchemaName(schema);
  return `"${schema}"`;
}

/**
 * SQL in this package is written for the schema `carillon`; this replaces it by the configured one. Literals and
 * comments stay as they are; dollar-quoted bodies are code (functions) and are rewritten too.
 */
export function qualify(sql: string, schema: string): string {
  const replacement = `${quotedSchema(schema)}.`;
  const rewrite = (segment: Segment): string => {
    if (segment.kind === "code") return segment.text.replace(qualifier, replacement);
    if (segment.kind !== "dollar") return segment.text;
    const mark = segment.text.slice(0, segment.text.indexOf("$", 1) + 1);
    if (!segment.text.endsWith(mark) || segment.text.length < 2 * mark.length) return segment.text;
    return mark + segmentsOf(segment.text.slice(mark.length, -mark.length)).map(rewrite).join("") + mark;
  };
  return segmentsOf(sql).map(rewrite).join("");
}
