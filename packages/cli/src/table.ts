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
