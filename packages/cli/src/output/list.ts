import type { Io } from "../io.js";
import { type OutputForm, renderJson } from "./form.js";
import { type Column, renderTable } from "./table.js";

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

export interface Listing<Row> {
  readonly form: OutputForm;
  readonly limit: number;
  readonly columns: readonly Column<Row>[];
  /** What to call the rows when there are none. */
  readonly noun: string;
  /** The first page without a token. */
  page(size: number, token: string | null): Promise<Page<Row>>;
}

const LARGEST_PAGE = 1_000;

/** Pages until the limit. jsonl goes out page by page; a table and one document need all rows first. */
export async function printList<Row>(io: Io, listing: Listing<Row>): Promise<void> {
  const { form, limit, columns, noun } = listing;
  const rows: Row[] = [];
  let token: string | null = null;
  do {
    const page = await listing.page(Math.min(limit - rows.length, LARGEST_PAGE), token);
    rows.push(...page.rows);
    if (form === "jsonl") await io.out(page.rows.map((row) => renderJson(row, form)).join(""));
    token = page.next;
  } while (token !== null && rows.length < limit);
  if (form === "json" || form === "yaml") await io.out(renderJson(rows, form));
  if (form !== "table") return;
  if (rows.length === 0) return io.talk(`carillon: no ${noun}`);
  await io.out(renderTable(columns, rows));
  if (token !== null) io.talk(`carillon: the first ${rows.length}; more with --limit`);
}
