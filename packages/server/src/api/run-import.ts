import { Readable } from "node:stream";
import {
  limits,
  type operations,
  type Problem,
  readRunCreate,
  type RunImportLine,
  type RunImportSummary,
} from "@carillon/contract";
import { CarillonError, type EnqueueSpec, formatId } from "@carillon/core";
import type { EnqueuedRun } from "@carillon/engine";
import { readItem, type ReadItem, storeBatch } from "./batch.js";
import { toProblem } from "./http/errors.js";
import { type ApiOptions, type ApiResponse, type Call, handlers, momentOf } from "./http/handler.js";
import { type Line, lineGroups } from "./http/ndjson.js";

type ImportCall = Call<(typeof operations)["importRuns"]>;

/** At a time, on one node: each holds a connection, and up to a line of the largest size. */
const maxImports = 16;
const groupLines = 1_000;

/** Streams of runs: each line of the body is a run, and each line of the answer its result. */
export function runImportHandlers(options: ApiOptions) {
  let open = 0;
  return handlers({
    async importRuns(call) {
      if (call.body === undefined) throw emptyBody();
      if (open >= maxImports) {
        throw new CarillonError("overloaded", `This node has ${maxImports} imports in progress. Try again later.`);
      }
      open++;
      const answer = importLines(options, call, () => open--);
      try {
        // The first group is stored before the answer begins: an unknown namespace gets its own status.
        const first = await answer.next();
        return streamed(first.done === true ? [] : [first.value], answer);
      } catch (error) {
        await answer.return(undefined);
        throw error;
      }
    },
  });
}

function streamed(first: readonly string[], rest: AsyncGenerator<string>): ApiResponse {
  async function* all(): AsyncGenerator<string> {
    try {
      yield* first;
      yield* rest;
    } finally {
      await rest.return(undefined);
    }
  }
  // Text of one group at a time: a reader that is slow stops the import, and thereby the sender.
  const body = Readable.from(all(), { objectMode: true, highWaterMark: 1 });
  return { status: 200, contentType: "application/x-ndjson; charset=utf-8", body };
}

/** The lines of the answer, group by group, and a summary at the end. */
async function* importLines(options: ApiOptions, call: ImportCall, onEnd: () => void): AsyncGenerator<string> {
  const { body, signal } = call;
  const stream = new RunImport(options, call);
  try {
    for await (const group of lineGroups(body as Readable, { lineBytes: limits.bodyBytes, groupLines }, signal)) {
      const text = await stream.answer(group);
      if (text !== "") yield text;
      if (stream.hasStopped) return;
    }
    yield stream.end();
  } finally {
    onEnd();
  }
}

/** One import: what it has stored, and the line to continue with. */
class RunImport {
  readonly #options: ApiOptions;
  readonly #call: ImportCall;
  readonly #summary: Counts = { lines: 0, created: 0, duplicates: 0, refused: 0 };
  #next = 1;
  hasStopped = false;

  constructor(options: ApiOptions, call: ImportCall) {
    this.#options = options;
    this.#call = call;
  }

  /** Stores the lines of a group and returns their results. Throws if the first group cannot be stored: the answer has not begun. */
  async answer(group: readonly Line[]): Promise<string> {
    const { query } = this.#call;
    const { results, failure } = await storeGroup(this.#options, this.#call, group);
    if (failure !== null) {
      if (this.#next === 1) throw failure;
      return this.#stop({ stopped_at: this.#next, problem: this.#problemOf(failure) });
    }
    for (const one of results) count(this.#summary, one);
    const refused = results.filter(({ problem }) => problem !== undefined);
    const shown = query.results === "refused" ? refused : results;
    const text = shown.map((one) => `${JSON.stringify(one)}\n`).join("");
    this.#next = (group.at(-1)?.number ?? this.#next) + 1;
    const [first] = refused;
    return query.on_error === "stop" && first !== undefined ? text + this.#stop({ stopped_at: first.line }) : text;
  }

  /** The last line, after the end of the body or a shutdown. Throws for a body without a line. */
  end(): string {
    if (this.#call.signal?.aborted === true)
      return this.#stop({ stopped_at: this.#next, problem: this.#problemOf(shuttingDown()) });
    if (this.#summary.lines === 0) throw emptyBody();
    return lastLine(this.#summary, {});
  }

  #stop(end: Partial<RunImportSummary>): string {
    this.hasStopped = true;
    return lastLine(this.#summary, end);
  }

  #problemOf(error: unknown): Problem {
    return toProblem(error, this.#call.requestId).body;
  }
}

const emptyBody = (): CarillonError =>
  new CarillonError("json_invalid", "The body is empty. Send one run as JSON on each line.");

const shuttingDown = (): CarillonError =>
  new CarillonError("shutting_down", "This node is shutting down. Continue at another node from this line.");

function lastLine(summary: Omit<RunImportSummary, "done">, end: Partial<RunImportSummary>): string {
  const line: RunImportSummary = { done: end.stopped_at === undefined, ...summary, ...end };
  return `${JSON.stringify(line)}\n`;
}

interface Counts {
  lines: number;
  created: number;
  duplicates: number;
  refused: number;
}

function count(summary: Counts, { is_new: isNew, problem }: RunImportLine): void {
  summary.lines++;
  if (problem !== undefined) summary.refused++;
  else if (isNew === true) summary.created++;
  else summary.duplicates++;
}

interface GroupResult {
  readonly results: readonly RunImportLine[];
  /** Nothing of the group was stored, because of the server. */
  readonly failure: unknown;
}

async function storeGroup(options: ApiOptions, call: ImportCall, group: readonly Line[]): Promise<GroupResult> {
  const moment = momentOf(options, call.namespace);
  const items = group.map((line) => readItem(() => specOf(line, moment)));
  const firstFault = call.query.on_error === "stop" ? items.findIndex((item) => "error" in item) : -1;
  const taken = firstFault === -1 ? items : items.slice(0, firstFault + 1);
  try {
    const outcomes = await storeItems(options, call, taken);
    return {
      results: outcomes.map((outcome, index) => resultOf(group[index], outcome, call.requestId)),
      failure: null,
    };
  } catch (error) {
    return { results: [], failure: error };
  }
}

function storeItems(
  options: ApiOptions,
  call: ImportCall,
  items: readonly ReadItem<EnqueueSpec>[],
): Promise<EnqueuedRun[]> {
  return storeBatch(options, call, items, (specs) => options.engine.enqueuer.enqueueMany(call.namespace, specs));
}

function specOf(line: Line, moment: ReturnType<typeof momentOf>): EnqueueSpec {
  if ("value" in line) return readRunCreate(line.value, moment);
  throw new CarillonError(line.fault === "too_large" ? "payload_too_large" : "json_invalid", line.detail);
}

function resultOf(line: Line | undefined, outcome: EnqueuedRun, requestId: string): RunImportLine {
  const number = line?.number ?? 0;
  if ("id" in outcome) return { line: number, id: formatId("run", outcome.id), is_new: outcome.isNew };
  return { line: number, problem: toProblem(outcome.error, requestId).body };
}
