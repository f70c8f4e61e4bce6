import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Session } from "node:inspector";
import { fileURLToPath } from "node:url";

/** A place in a source file; lines and columns count from 1. */
interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Notes the module that Node cannot parse: the error of an ES module does not name it. The debugger is on only while modules are loaded,
 * and never pauses.
 */
export class ParseFailures {
  readonly #session = new Session();
  #file: string | null = null;

  constructor() {
    this.#session.connect();
    this.#session.on("Debugger.scriptFailedToParse", ({ params: { url } }) => {
      if (url.startsWith("file:")) this.#file = fileURLToPath(url);
    });
    this.#session.post("Debugger.enable");
    this.#session.post("Debugger.setSkipAllPauses", { skip: true });
  }

  get file(): string | null {
    return this.#file;
  }

  close(): void {
    this.#session.disconnect();
  }
}

/** The error in words, its place with the lines around it, and the frames of the user's code, without those of Node and of Carillon. */
export function describeLoadError(error: unknown, unparsed: string | null): string {
  if (!(error instanceof Error)) return `It threw ${String(error)}`;
  const { place, frames } = placeOf(error, unparsed);
  const cause = error.cause instanceof Error ? [`Cause: ${error.cause.name}: ${error.cause.message}`] : [];
  const head = [`${error.name}: ${error.message}`, ...hintOf(error), ...cause];
  if (place === null) return head.join("\n");
  return [...head, "", ...codeFrame(place), ...frames.map((frame) => `    ${frame}`)].join("\n");
}

/** The file of the place, for a watch; null if the error names none. */
export function fileOfLoadError(error: unknown, unparsed: string | null): string | null {
  return error instanceof Error ? (placeOf(error, unparsed).place?.file ?? null) : null;
}

interface Found {
  readonly place: SourcePlace | null;
  readonly frames: readonly string[];
}

function placeOf(error: Error, unparsed: string | null): Found {
  const stack = error.stack ?? "";
  const found =
    decorated(stack) ??
    inMessage(error.message) ??
    inJson(error.message) ??
    (unparsed === null || !(error instanceof SyntaxError) ? null : checked(unparsed)) ??
    importOf(error);
  if (found !== null) return { place: found, frames: [] };
  const frames = userFrames(stack);
  return { place: frames[0]?.place ?? null, frames: frames.length > 1 ? frames.map(({ text }) => text) : [] };
}

/** As Node prints it in front of the stack: the file and the line, the source, and a caret below the column. */
function decorated(text: string): SourcePlace | null {
  const [, name = "", line = "", before = ""] = /^((?:file:\/\/)?\S.*):(\d+)\n(?:.*\n)*?([ \t]*)\^/m.exec(text) ?? [];
  return line === "" ? null : { file: pathOf(name), line: Number(line), column: before.length + 1 };
}

/** As compilers write it: /folder/tasks.ts:3:14: ERROR: … */
function inMessage(message: string): SourcePlace | null {
  const [, file = "", line = "", column = ""] = /^(\/.+?|[A-Z]:\\.+?):(\d+):(\d+): /m.exec(message) ?? [];
  return file === "" ? null : { file, line: Number(line), column: Number(column) + 1 };
}

/** A JSON module: the message begins with the file, and may name the position. */
function inJson(message: string): SourcePlace | null {
  const [, file = ""] = /^(\S.*\.json): /.exec(message) ?? [];
  const source = file === "" ? null : sourceOf(file);
  if (source === null) return null;
  const [, given] = /position (\d+)/.exec(message) ?? [];
  const position = given === undefined ? source.trimEnd().length : Number(given);
  const before = source.slice(0, position).split("\n");
  return { file: pathOf(file), line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** Node itself parses the file again, without executing it, and prints the place. */
function checked(file: string): SourcePlace | null {
  const { stderr } = spawnSync(process.execPath, ["--check", file], { encoding: "utf8", timeout: 10_000 });
  return decorated(stderr);
}

/** The import of a module that does not exist: the error names the module and the importing file. */
function importOf({ message }: Error): SourcePlace | null {
  const [, missing = "", importer = ""] =
    /^Cannot find (?:module|package) '(.+?)' imported from '?(.+?)'?$/m.exec(message) ?? [];
  const lines = sourceOf(importer)?.split("\n") ?? [];
  const name = (missing.split(/[\\/]/).at(-1) ?? missing).replace(/\.\w+$/, "");
  const at = lines.findIndex((line) => /\b(?:import|export|from|require)\b/.test(line) && line.includes(name));
  const column = (lines[at] ?? "").search(/["'`]/) + 1;
  return at === -1 ? null : { file: pathOf(importer), line: at + 1, column: Math.max(1, column) };
}

function hintOf(error: Error): string[] {
  const [, name = ""] = /^Cannot find package '(.+?)' imported/.exec(error.message) ?? [];
  return name === "" ? [] : [`Install it with: npm install ${name}`];
}

interface Frame {
  readonly place: SourcePlace;
  readonly text: string;
}

const own = fileURLToPath(new URL("../../", import.meta.url));

/** Frames in the user's files: not in Node, in packages or in Carillon. */
function userFrames(stack: string): Frame[] {
  return stack.split("\n").flatMap((text) => {
    const [, name = "", line = "", column = ""] =
      /^\s+at (?:.*\()?((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/]).*?):(\d+):(\d+)\)?$/.exec(text) ?? [];
    const file = pathOf(name);
    if (name === "" || file.startsWith(own) || /[\\/]node_modules[\\/]/.test(file)) return [];
    return [{ place: { file, line: Number(line), column: Number(column) }, text: text.trim().replace(name, file) }];
  });
}

const around = 2;

function codeFrame({ file, line, column }: SourcePlace): string[] {
  const head = `${file}:${line}:${column}`;
  const lines = sourceOf(file)?.split("\n") ?? [];
  if (lines[line - 1] === undefined) return [head];
  const first = Math.max(1, line - around);
  const width = String(line + around).length;
  const shown = lines.slice(first - 1, line + around).flatMap((source, index) => {
    const number = first + index;
    const text = `${number === line ? ">" : " "} ${String(number).padStart(width)} | ${source}`;
    return number === line ? [text, `  ${" ".repeat(width)} | ${indentTo(source, column)}^`] : [text];
  });
  return [head, "", ...shown.map((text) => text.trimEnd())];
}

/** Tabs stay tabs, so that the caret stands below its character. */
function indentTo(source: string, column: number): string {
  return source.slice(0, column - 1).replaceAll(/[^\t]/g, " ");
}

function sourceOf(name: string): string | null {
  try {
    return readFileSync(pathOf(name), "utf8");
  } catch {
    return null;
  }
}

const pathOf = (name: string): string => (name.startsWith("file:") ? fileURLToPath(name.replace(/\?.*$/, "")) : name);
