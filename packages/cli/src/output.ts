import { type Command, Option } from "commander";
import type * as YamlPackage from "yaml";
import type { Invocation } from "./command.js";
import type { Io } from "./io.js";

const forms = ["table", "json", "jsonl", "yaml"] as const;

export type OutputForm = (typeof forms)[number];
/** For machines. */
export type DataForm = Exclude<OutputForm, "table">;

/** Adds -o and --json to a command that prints data. */
export function withOutputForm(command: Command): Command {
  return command
    .addOption(new Option("-o, --output <form>", "how to print").choices(forms).default("table"))
    .option("--json", "the same as -o json");
}

export function outputForm({ options }: Pick<Invocation, "options">): OutputForm {
  if (options["json"] === true) return "json";
  return forms.find((form) => form === options["output"]) ?? "table";
}

/** Several values: one document, or a line for each with jsonl. */
export function renderRows(rows: readonly unknown[], form: DataForm): string {
  return form === "jsonl" ? rows.map((row) => renderJson(row, form)).join("") : renderJson(rows, form);
}

/** One of several values over time: a line of JSON, or a document of YAML. */
export function renderNext(value: unknown, form: DataForm): string {
  return form === "yaml" ? `---\n${renderYaml(value)}` : renderJson(value, "jsonl");
}

/** One value as JSON, indented for json, one line for jsonl; or as YAML. */
export function renderJson(value: unknown, form: DataForm): string {
  if (form === "yaml") return renderYaml(value);
  return `${form === "json" ? JSON.stringify(value, null, 2) : JSON.stringify(value)}\n`;
}

/** One thing, as the user asked for it. */
export async function printThing<Thing>(
  io: Io,
  invocation: Invocation,
  thing: Thing,
  render: (thing: Thing) => string,
): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? render(thing) : renderJson(thing, form));
}

type Yaml = typeof YamlPackage;

let yaml: Yaml | undefined;

/** Loads the package once, before anything is rendered. Few commands need it. */
export async function loadYaml(): Promise<Yaml> {
  yaml ??= await import("yaml");
  return yaml;
}

/** A value as one document of YAML 1.2; any reader of JSON values gets the same value back. */
export function renderYaml(value: unknown): string {
  if (yaml === undefined) throw new Error("the YAML package must be loaded before anything is rendered");
  // Folded lines would be hard to compare, and an alias hard to read.
  return yaml.stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

export interface Listing<Row> {
  readonly form: OutputForm;
  readonly limit: number;
  readonly columns: readonly Column<Row>[];
  /** What the rows are called if there are none. */
  readonly noun: string;
  /** The first page without a token. */
  page(size: number, token: string | null): Promise<Page<Row>>;
}

const maxPageSize = 1_000;

/** Reads pages up to the limit. jsonl is printed page by page; a table and a document need all rows first. */
export async function printList<Row>(io: Io, listing: Listing<Row>): Promise<void> {
  const { form, limit, columns, noun } = listing;
  const rows: Row[] = [];
  let token: string | null = null;
  do {
    const page = await listing.page(Math.min(limit - rows.length, maxPageSize), token);
    rows.push(...page.rows);
    if (form === "jsonl") await io.out(page.rows.map((row) => renderJson(row, form)).join(""));
    token = page.next;
  } while (token !== null && rows.length < limit);
  if (form === "json" || form === "yaml") await io.out(renderJson(rows, form));
  if (form !== "table") return;
  if (rows.length === 0) return io.info(`carillon: no ${noun}`);
  await io.out(renderTable(columns, rows));
  if (token !== null) io.info(`carillon: the first ${rows.length}; more with --limit`);
}

/** Most schedules fire on the hour: a warning about each of them would only hide the others. JSON and YAML have it. */
export function visibleWarnings<Warning extends { readonly code: string }>(warnings: readonly Warning[]): Warning[] {
  return warnings.filter(({ code }) => code !== "on_the_hour");
}

/** The warnings of an answer, for people. */
export function printWarnings(io: Pick<Io, "info">, warnings: readonly { readonly detail: string }[] = []): void {
  for (const { detail } of warnings) io.info(`carillon: warning: ${detail}`);
}

/** One column of a table for people. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => unknown;
  readonly align?: "right";
}

const titleOf = (field: string): string => field.replaceAll("_", " ");

/** A column for each of these fields, under its own name. */
export function fieldColumns<Row>(...fields: readonly (keyof Row & string)[]): Column<Row>[] {
  return fields.map((field) => ({ title: titleOf(field).toUpperCase(), value: (row) => row[field] }));
}

/** The same for numbers. */
export function countColumns<Row>(...fields: readonly (keyof Row & string)[]): Column<Row>[] {
  return fieldColumns<Row>(...fields).map((column) => ({ ...column, align: "right" }));
}

const GAP = "  ";

function cell(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return plainText(typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
}

/** Text for a terminal: no control characters, so that data cannot move the cursor or forge lines. */
export const plainText = (text: string): string => text.replace(/\p{Cc}/gu, " ");

const widthOf = (text: string): number => Array.from(text).length;

/** Each column is as wide as its widest cell; the last one is not padded. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const lines = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map((column) => cell(column.value(row)))),
  ];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => widthOf(line[at] ?? ""))));
  const padded = (text: string, at: number): string => {
    const space = " ".repeat((widths[at] ?? 0) - widthOf(text));
    return columns[at]?.align === "right" ? space + text : text + space;
  };
  return lines.map((line) => `${line.map(padded).join(GAP).trimEnd()}\n`).join("");
}

/** Name and value pairs, one a line, for a single thing. */
export function renderFields(fields: readonly (readonly [name: string, value: unknown])[]): string {
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  return fields.map(([name, value]) => `${name.padEnd(width)}${GAP}${cell(value)}\n`).join("");
}

/** These fields of a thing as such pairs, under their own names. */
export function fieldsOf<Thing>(thing: Thing, ...fields: readonly (keyof Thing & string)[]) {
  return fields.map((field) => [titleOf(field), thing[field]] as const);
}

/** The terminal's codes for the few styles in use. */
const STYLES = {
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  gray: [90, 39],
} as const;

export type Paint = (style: keyof typeof STYLES, text: string) => string;

export function painter(colour: boolean): Paint {
  return (style, text) => (colour ? `\u001b[${STYLES[style][0]}m${text}\u001b[${STYLES[style][1]}m` : text);
}
