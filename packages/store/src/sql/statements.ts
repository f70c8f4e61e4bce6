import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { SqlText } from "../db/queryable.js";
import { qualify, segmentsOf } from "./sql-text.js";
import type { StatementParams } from "./generated/statement-params.js";

/** The .sql files are in src, beside the code that sends them; the path from dist is the same. */
export const sqlDirectory = fileURLToPath(new URL("../../src/", import.meta.url));

/** Migrations are no statements. */
const migrationFolder = "migrations";

/** Reads all statements, for the configured schema. Called once, at start. */
export function loadStatements(schema: string): Statements {
  return makeStatements(readStatementSources(), schema);
}

/** Every statement of this package, as written. */
export function readStatementSources(): StatementSource[] {
  const folders = readdirSync(sqlDirectory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = folders
    .filter(({ name }) => name !== migrationFolder)
    .flatMap(({ name }) => readdirSync(sqlDirectory + name).map((file) => `${name}/${file}`))
    .filter((file) => file.endsWith(".sql"));
  return collectSources(new Map(files.sort().map((file) => [file, readFileSync(sqlDirectory + file, "utf8")])));
}

/** The statements of several files, by file name, with their parts inserted; names are unique over all files. */
export function collectSources(files: ReadonlyMap<string, string>): StatementSource[] {
  const parsed = [...files].map(([file, content]) => ({ file, ...parseStatementFile(file, content) }));
  const fileOf = new Map<string, string>();
  const claimName = (file: string, { name, text }: StatementSource): void => {
    const other = fileOf.get(name);
    if (other !== undefined) throw new Error(`${file}: the statement ${name} is already in ${other}`);
    if (text === "") throw new Error(`${file}: the statement ${name} is empty`);
    fileOf.set(name, file);
  };
  for (const { file, statements, parts } of parsed) for (const one of [...parts, ...statements]) claimName(file, one);
  const partTexts = new Map(parsed.flatMap(({ parts }) => parts.map(({ name, text }) => [name, text] as const)));
  return parsed.flatMap(({ statements }) => statements.map((source) => putPartsIn(source, partTexts)));
}

export function makeStatements(sources: readonly StatementSource[], schema: string): Statements {
  const byName = new Map(sources.map(({ name, text }) => [name, toStatement(name, qualify(text, schema))]));
  return {
    names: [...byName.keys()],
    get(name) {
      const statement = byName.get(name);
      if (statement === undefined) throw new Error(`no .sql file of @carillon/store has a statement named ${name}`);
      return statement;
    },
  };
}

function toStatement(name: string, named: string): Statement {
  const { text, params } = numberParameters(name, named);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const keys = params.map(camelCase);
  const values = (given: Readonly<Record<string, unknown>>): unknown[] => keys.map((key) => given[key]);
  return Object.freeze({ name, text, prepared: `${name.slice(0, 40)}_${digest}`, params, values });
}

const parameter = /(?<![:\w]):([a-z_][a-z0-9_]*)/g;

/** SQL with its named parameters (`:lane_ids`) as $1, $2, … in the order of their first appearance. */
export function numberParameters(name: string, sql: string): { text: string; params: readonly string[] } {
  const params: string[] = [];
  const number = (_match: string, param: string): string => {
    if (!params.includes(param)) params.push(param);
    return `$${params.indexOf(param) + 1}`;
  };
  const segments = segmentsOf(sql);
  const text = segments
    .map((segment) => (segment.kind === "code" ? segment.text.replace(parameter, number) : segment.text))
    .join("");
  const isNumbered = segments.some((segment) => segment.kind === "code" && /\$\d/.test(segment.text));
  if (isNumbered && params.length > 0) throw new Error(`the statement ${name} has both named and numbered parameters`);
  return { text, params };
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());

/** The values that a statement's parameters take, by their names in camelCase. generated/statement-params.ts is generated from the .sql files. */
export type ParamsOf<Name extends string> = Name extends keyof StatementParams
  ? { readonly [Param in StatementParams[Name]]: unknown }
  : Readonly<Record<string, unknown>>;

/** A named statement of one of the .sql files of this package, for the configured schema. */
export interface Statement<Name extends string = string> {
  /** entity.verb, as in the file: run.claim */
  readonly name: string;
  readonly text: string;
  /** Its name as a prepared statement: other text (another schema, another version) gives another name. */
  readonly prepared: string;
  /** Its named parameters in the order of their numbers. */
  readonly params: readonly string[];
  /** The values of its parameters in the order of their numbers. */
  values(params: ParamsOf<Name>): unknown[];
}

/** All statements of one schema, read once at start. */
export interface Statements {
  /** Throws for a name that no file has, so that a wrong name is found at start. */
  get<Name extends string>(name: Name): Statement<Name>;
  readonly names: readonly string[];
}

const tagged = /^(.*?)\s*--\?\s*([a-z_ ]+)$/;

/**
 * A statement with the chosen ones of its optional lines. A line that ends with `--? tag` stays only if one of its tags is chosen. The
 * result has no name: the server plans it at each call for its values, so that absent members of a filter cost nothing.
 */
export function pickLines({ text }: SqlText, ...tags: readonly string[]): SqlText {
  const lines = text.split("\n").flatMap((line) => {
    const [, content = "", names] = tagged.exec(line) ?? [];
    if (names === undefined) return [line];
    return names.split(" ").some((name) => tags.includes(name)) ? [content] : [];
  });
  return { text: lines.join("\n") };
}

/** One statement as it stands in its file: the header's lines by key, and the text without them. */
export interface StatementSource {
  readonly name: string;
  readonly header: ReadonlyMap<string, string>;
  readonly text: string;
}

/** The contents of a file. A part is no statement: statements include its text. */
export interface StatementFile {
  readonly statements: readonly StatementSource[];
  readonly parts: readonly StatementSource[];
}

const firstLine = /^-- (name|part):\s*(\S+)\s*$/;
const headerLine = /^-- ([a-z]+):\s*(.*)$/;
const commentLine = /^--(?!\+)\s?(.*)$/;

/**
 * Reads a file of named statements. Each begins with `-- name: entity.verb`; the comment lines below it are its header
 * (`-- purpose: …`, `-- fence: …`; a line without a key continues the one above). A part begins with `-- part: entity.noun`
 * and has a header too.
 */
export function parseStatementFile(file: string, content: string): StatementFile {
  const found = { name: [] as StatementSource[], part: [] as StatementSource[] };
  let open: { kind: "name" | "part"; name: string; lines: string[] } | undefined;
  const close = (): void => {
    if (open !== undefined) found[open.kind].push(toSource(open.name, open.lines));
  };
  for (const line of content.split(/\r?\n/)) {
    const [, kind, name] = firstLine.exec(line) ?? [];
    if (name !== undefined) {
      close();
      open = { kind: kind === "part" ? "part" : "name", name, lines: [] };
    } else if (open !== undefined) open.lines.push(line);
    else if (line.trim() !== "" && !line.startsWith("--")) {
      throw new Error(`${file}: SQL before the first "-- name:" line: ${line.trim()}`);
    }
  }
  close();
  return { statements: found.name, parts: found.part };
}

function toSource(name: string, lines: readonly string[]): StatementSource {
  const header = new Map<string, string>();
  let key: string | undefined;
  let at = 0;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, comment] = commentLine.exec(line) ?? [];
    if (comment === undefined) break;
    const [, newKey, value] = headerLine.exec(line) ?? [];
    if (newKey !== undefined && value !== undefined) header.set((key = newKey), value.trim());
    else if (key !== undefined) header.set(key, `${header.get(key) ?? ""} ${comment.trim()}`.trim());
  }
  const text = lines.slice(at).join("\n").trim().replace(/;$/, "").trimEnd();
  return { name, header, text };
}

const place = /^([ \t]*)--\+[ \t]*(\S+)[ \t]*$/gm;

/** A statement with each line `--+ entity.what` replaced by the part of that name. Parts have no parts in them. */
function putPartsIn(source: StatementSource, parts: ReadonlyMap<string, string>): StatementSource {
  const text = source.text.replaceAll(place, (_line, indent: string, name: string) => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`the statement ${source.name} has the part ${name}, which no file has`);
    return part
      .split("\n")
      .map((line) => indent + line)
      .join("\n");
  });
  return { ...source, text };
}
