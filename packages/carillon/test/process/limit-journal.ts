import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CarillonProcess } from "./carillon-process.js";
import { scratchDir } from "./scratch.js";

/** What handlers wrote down themselves; `killed` is written by the test, once the process is gone. */
interface Entry {
  readonly kind: "begin" | "end" | "killed";
  readonly pid: number;
  readonly key: string;
  readonly number: number;
  readonly at: number;
}

/**
 * `work` writes when it begins and ends. One append is one write, so that the lines of all processes have one order. With `meet` it ends
 * only when so many runs of its key have begun.
 */
const tasks = (file: string): string => `
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
const file = ${JSON.stringify(file)};
const write = (kind, { key, number }) =>
  appendFileSync(file, JSON.stringify({ kind, pid: process.pid, key, number, at: Date.now() }) + "\\n");
const begun = (key) => readFileSync(file, "utf8").split("\\n").filter((line) => line.includes('"begin"') && line.includes('"' + key + '"')).length;
export const work = {
  name: "work",
  run: async (payload) => {
    write("begin", payload);
    if (payload.meet === undefined) await sleep(payload.ms);
    else while (begun(payload.key) < payload.meet) await sleep(10);
    write("end", payload);
  },
};
`;

/** A journal of starts and ends over worker processes that may be killed. */
export class LimitJournal {
  readonly #file: string;
  readonly #dir: string;

  static async create(): Promise<LimitJournal> {
    const dir = await scratchDir();
    const journal = new LimitJournal(dir);
    await writeFile(join(dir, "tasks.mjs"), tasks(journal.#file));
    return journal;
  }

  private constructor(dir: string) {
    this.#dir = dir;
    this.#file = join(dir, "journal");
  }

  async startWorker(urls: readonly string[]): Promise<CarillonProcess> {
    const args = ["worker", "start", "tasks.mjs", "--url", urls.join(",")];
    const process = new CarillonProcess(args, { cwd: this.#dir });
    await process.line(/^carillon: serving work on /);
    return process;
  }

  /** What it had begun and not ended is over with it. */
  async kill(worker: CarillonProcess): Promise<void> {
    worker.kill("SIGKILL");
    await worker.ended;
    const entry: Entry = { kind: "killed", pid: worker.pid, key: "", number: 0, at: Date.now() };
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`);
  }

  /** All lines that are whole. */
  entries(): Entry[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Entry);
  }

  count(kind: Entry["kind"], key?: string): number {
    return this.entries().filter((entry) => entry.kind === kind && (key === undefined || entry.key === key)).length;
  }

  /** Runs of the process that it has begun and not ended. */
  openOf(pid: number): number {
    let open = 0;
    for (const entry of this.entries()) if (entry.pid === pid) open += entry.kind === "begin" ? 1 : -1;
    return open;
  }

  /** The most runs of a key that were ever at work at once. */
  maxOpen(key: string): number {
    let most = 0;
    let open: Entry[] = [];
    for (const entry of this.entries()) {
      if (entry.kind === "begin" && entry.key === key) open.push(entry);
      else if (entry.kind === "killed") open = open.filter((one) => one.pid !== entry.pid);
      else open = open.filter((one) => one.pid !== entry.pid || one.key !== entry.key || one.number !== entry.number);
      most = Math.max(most, open.length);
    }
    return most;
  }

  /** The numbers of a key's runs, in the order in which they ended. */
  ended(key: string): number[] {
    return this.entries().flatMap((entry) => (entry.kind === "end" && entry.key === key ? [entry.number] : []));
  }

  begun(key: string): number[] {
    return this.entries().flatMap((entry) => (entry.kind === "begin" && entry.key === key ? [entry.number] : []));
  }

  /** The shortest time in which one run more than the limit began. */
  shortestOver(key: string, limit: number): number {
    const starts = this.entries().flatMap((entry) => (entry.kind === "begin" && entry.key === key ? [entry.at] : []));
    const spans = starts.slice(limit).map((at, index) => at - (starts[index] ?? at));
    return Math.min(...spans);
  }
}
