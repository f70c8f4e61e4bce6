import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Client } from "@carillon/client";
import { limits, type RunCreate } from "@carillon/contract";
import { flagOption, type Invocation, requiredArg } from "./command.js";
import { ExitCode, usageError } from "./exit-codes.js";
import type { Io } from "./io.js";
import { printThing, renderFields } from "./output.js";
import { ProgressLine, progressBar } from "./progress-line.js";
import { printNoUndo } from "./undo.js";

const maxLines = 1_000;
/** Below the size of a request, which also has the envelope. */
const maxBytes = limits.runBatchBytes / 2;

interface Imported {
  lines: number;
  created: number;
  duplicates: number;
  refused: number;
}

interface NumberedLine {
  readonly number: number;
  readonly run: RunCreate;
}

/** Creates a run for each line of a file or of standard input, a thousand at a time, and reports faulty lines by their numbers. */
export async function importRuns({
  io,
  invocation,
  client,
}: {
  readonly io: Io;
  readonly invocation: Invocation;
  readonly client: Client;
}): Promise<ExitCode> {
  const path = requiredArg(invocation, 0);
  const importer = new RunImporter(io, client, flagOption(invocation, "stopOnError"));
  const result = await importer.run(await openLines(io, path));
  await printThing(io, invocation, result, (one) =>
    renderFields(Object.entries(one).map(([name, count]) => [name, count] as const)),
  );
  printNoUndo(
    io,
    `${result.created} created`,
    "cancel runs with carillon run bulk cancel, by their ids or by a filter",
  );
  return result.refused === 0 ? ExitCode.ok : ExitCode.usage;
}

interface Source {
  readonly lines: AsyncIterable<string>;
  /** Null if it is not known. */
  readonly bytes: number | null;
}

async function openLines(io: Io, path: string): Promise<Source> {
  if (path === "-") return { lines: createInterface({ input: io.stdin, crlfDelay: Infinity }), bytes: null };
  const file = resolve(io.cwd, path);
  try {
    const { size } = await stat(file);
    return { lines: createInterface({ input: createReadStream(file), crlfDelay: Infinity }), bytes: size };
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error));
  }
}

class RunImporter {
  readonly #io: Io;
  readonly #client: Client;
  readonly #stopsAtError: boolean;
  readonly #progress: ProgressLine;
  readonly #result: Imported = { lines: 0, created: 0, duplicates: 0, refused: 0 };
  #pending: NumberedLine[] = [];
  #pendingBytes = 0;
  #number = 0;
  #readBytes = 0;

  constructor(io: Io, client: Client, stopsAtError: boolean) {
    this.#io = io;
    this.#client = client;
    this.#stopsAtError = stopsAtError;
    this.#progress = new ProgressLine(io);
  }

  async run({ lines, bytes }: Source): Promise<Imported> {
    try {
      for await (const text of lines) {
        this.#add(text);
        if (this.#pending.length >= maxLines || this.#pendingBytes >= maxBytes) await this.#send(bytes);
        if (this.#mustStop) break;
      }
      await this.#send(bytes);
    } catch (error) {
      const first = this.#pending[0]?.number ?? this.#number + 1;
      this.#progress.print(`carillon: stopped before line ${first}; the lines before it are done`);
      throw error;
    } finally {
      this.#progress.clear();
    }
    return this.#result;
  }

  get #mustStop(): boolean {
    return this.#stopsAtError && this.#result.refused > 0;
  }

  #add(given: string): void {
    const number = ++this.#number;
    const text = number === 1 ? given.replace(/^\ufeff/, "") : given;
    const size = Buffer.byteLength(text);
    this.#readBytes += size + 1;
    if (text.trim() === "") return;
    try {
      const run = JSON.parse(text) as RunCreate;
      if (size > limits.bodyBytes) this.#refuse(number, `the line is larger than ${limits.bodyBytes} bytes`);
      else {
        this.#pending.push({ number, run });
        this.#pendingBytes += size;
      }
    } catch (error) {
      this.#refuse(number, `not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #refuse(line: number, detail: string): void {
    this.#result.lines++;
    this.#result.refused++;
    this.#progress.print(`carillon: line ${line}: ${detail}`);
  }

  /** Lines stay pending until their call has succeeded, so that a failure names the first one that is not done. */
  async #send(bytes: number | null): Promise<void> {
    if (this.#pending.length === 0) return;
    const { results } = await this.#client.runs.createMany(this.#pending.map(({ run }) => run));
    for (const [index, { is_new: isNew, problem }] of results.entries()) {
      if (problem !== undefined) {
        this.#refuse(this.#pending[index]?.number ?? 0, problem.detail ?? problem.title);
        continue;
      }
      this.#result.lines++;
      if (isNew === true) this.#result.created++;
      else this.#result.duplicates++;
    }
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#show(bytes);
  }

  #show(bytes: number | null): void {
    if (!this.#io.stderrIsTerminal) return;
    const text = `${this.#result.lines} lines`;
    this.#progress.show(bytes === null || bytes === 0 ? text : progressBar(Math.min(1, this.#readBytes / bytes), text));
  }
}
