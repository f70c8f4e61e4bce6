import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { inOurSpelling, type JobCreate, keyPattern, plainRequest } from "@carillon/contract";
import { CarillonError, isObject } from "@carillon/core";
import { usageError } from "../exit-codes.js";
import { readFileText } from "../flags.js";
import type { Io } from "../io.js";
import { loadYaml } from "../output.js";

/** A job in a file, before it is validated. */
export interface DeclaredJob {
  /** jobs.yaml, or jobs.yaml#2 in a file of several. */
  readonly place: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const extension = /\.(ya?ml|json)$/i;

/** The jobs of files, of the files in folders, and of standard input. */
export async function readJobFiles(io: Io, paths: readonly string[]): Promise<DeclaredJob[]> {
  const found: DeclaredJob[] = [];
  for (const path of paths)
    for (const file of await filesOf(io, path))
      found.push(
        ...(await jobsIn(
          file === "-" ? await readAll(io.stdin) : await readFileText(resolve(io.cwd, file), `-f ${file}: `),
          nameOf(file),
        )),
      );
  if (found.length === 0) throw usageError(`There is no job in ${paths.map(nameOf).join(", ")}`);
  return found;
}

const nameOf = (file: string): string => (file === "-" ? "standard input" : file);

/** A folder means the files in it, by name, without the folders inside it. */
async function filesOf(io: Io, path: string): Promise<string[]> {
  if (path === "-") return [path];
  const found = await stat(resolve(io.cwd, path)).catch(() => null);
  if (found === null || !found.isDirectory()) return [path];
  const names = (await readdir(resolve(io.cwd, path))).filter((name) => extension.test(name)).sort();
  return names.map((name) => join(path, name));
}

/** JSON is YAML too. A document is one job, a list of jobs, or { jobs: […] }. */
export async function jobsIn(source: string, name: string): Promise<DeclaredJob[]> {
  const { parseAllDocuments } = await loadYaml();
  const documents = parseAllDocuments(source);
  const bodies: unknown[] = [];
  for (const document of "empty" in documents ? [] : documents) {
    const [fault] = document.errors;
    if (fault !== undefined) throw usageError(`${name} cannot be read: ${fault.message.trimEnd()}`);
    bodies.push(...listed(document.toJS() as unknown));
  }
  return bodies.map((body, index) => {
    const place = bodies.length === 1 ? name : `${name}#${index + 1}`;
    if (!isObject(body)) throw usageError(`${place} is no job. A job has at least a key, a task and a schedule.`);
    return { place, body };
  });
}

/** An empty document, as after a last separator, contains no job. */
function listed(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value;
  return isObject(value) && Array.isArray(value["jobs"]) && Object.keys(value).length === 1 ? value["jobs"] : [value];
}

export interface DesiredJob {
  readonly place: string;
  readonly key: string;
  /** As written; this is sent. */
  readonly body: JobCreate;
  /** In normal form; this is compared. */
  readonly plain: Partial<JobCreate>;
}

const key = new RegExp(keyPattern);
const lasting = ["cron", "every", "at", "manual", "after"] as const;

/** Validates the declared jobs; the error lists every fault of every file. */
export function desiredJobs(declared: readonly DeclaredJob[], now: number): DesiredJob[] {
  const faults: string[] = [];
  const found = new Map<string, DesiredJob>();
  for (const one of declared) {
    const read = desiredJob(one, now);
    if (Array.isArray(read)) {
      faults.push(...read.map((fault) => `${one.place}: ${fault}`));
      continue;
    }
    const other = found.get(read.key);
    if (other === undefined) found.set(read.key, read);
    else faults.push(`${one.place}: the key ${read.key} is that of ${other.place} as well`);
  }
  if (faults.length > 0) throw usageError(`Nothing was changed:${faults.map((fault) => `\n  - ${fault}`).join("")}`);
  return [...found.values()];
}

function desiredJob({ place, body }: DeclaredJob, now: number): DesiredJob | string[] {
  const { key: name } = body;
  if (typeof name !== "string" || !key.test(name))
    return [
      "A job in a file needs a key, which identifies it: 1 to 200 letters, digits, dots, dashes and underscores.",
    ];
  const fault = scheduleFault(body);
  if (fault !== null) return [`${name}: ${fault}`];
  try {
    return { place, key: name, body: body as JobCreate, plain: plainRequest(body, { now }) };
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    const { items } = error;
    if (items.length === 0) return [`${name}: ${error.message}`];
    return items.map(({ pointer, detail }) => `${name}: ${pointer}: ${detail}`);
  }
}

/** A schedule that counts from the request would be another one on each apply. */
function scheduleFault(body: DeclaredJob["body"]): string | null {
  const { schedule } = inOurSpelling(body, "job");
  const isSaid = isObject(schedule) && lasting.some((kind) => kind in schedule);
  if (isSaid) return null;
  return `its schedule must be one of ${lasting.join(", ")}, because the same file is applied repeatedly.`;
}
