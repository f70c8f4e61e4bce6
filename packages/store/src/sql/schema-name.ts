import { CarillonError } from "@carillon/core";
import { segmentsOf, type Segment } from "./segments.js";

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

/** The schema's name as it stands in SQL. */
export function quotedSchema(schema: string): string {
  assertSchemaName(schema);
  return `"${schema}"`;
}

/**
 * SQL in this package is written for the schema `carillon`; this puts the configured one in its place. Literals and
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
