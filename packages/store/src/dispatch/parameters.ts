import type { Instant } from "@carillon/core";
import { jsonParam, timestampParam } from "../db/params.js";

export function timestampOrNull(instant: Instant | null): string | null {
  return instant === null ? null : timestampParam(instant);
}

/** Absent members and empty objects are stored as null: most runs have no labels and no policy of their own. */
export function jsonOrNull(value: object | undefined): string | null {
  return value === undefined || Object.keys(value).length === 0 ? null : jsonParam(value);
}

/**
 * Rows to one array per column, which is what `unnest` takes, each as PostgreSQL reads it: pg would do the same element by
 * element, at several times the cost, and a batch has tens of thousands of elements. Most columns of a batch repeat one value.
 */
export function columns<Row>(rows: readonly Row[], pick: ReadonlyArray<(row: Row) => Element>): string[] {
  return pick.map((of) => {
    let last: Element | undefined;
    let lastText = "";
    const texts: string[] = [];
    for (const row of rows) {
      const value = of(row);
      if (value !== last) {
        last = value;
        lastText = element(value);
      }
      texts.push(lastText);
    }
    return `{${texts.join(",")}}`;
  });
}

type Element = string | number | boolean | null;

/** Ids, instants, words: nothing that an array's syntax could mistake for something else. */
const plain = /^[\w:.+-]+$/;
const escaped = /["\\]/g;

function element(value: Element): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  if (plain.test(value) && (value.length !== 4 || value.toLowerCase() !== "null")) return value;
  return `"${value.replace(escaped, "\\$&")}"`;
}
