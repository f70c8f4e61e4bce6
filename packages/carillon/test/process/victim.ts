import { deepEqual, equal, fail } from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CarillonProcess } from "./carillon-process.js";
import { processesAt } from "./scratch.js";
import type { SeededRandom } from "./seeded-random.js";
import { type Serving, call, startDev } from "./server.js";

/** At 50 ms each: long after every rescue. */
const MOST_LOOKS = 600;

/** A worker that was killed is noticed soon enough for a test. */
const SOON = ["--worker-timeout", "1s"];

/** One data folder that nodes are killed on, and what their API has acknowledged. */
export class Victim {
  readonly #dataDir: string;
  readonly #random: SeededRandom;
  readonly #args: readonly string[];
  readonly #acknowledged: string[] = [];
  readonly #news = new EventEmitter();
  #checked = 0;
  #node: Serving | null = null;
  kills = 0;

  constructor(dataDir: string, random: SeededRandom, args: readonly string[] = []) {
    this.#dataDir = dataDir;
    this.#random = random;
    this.#args = [...SOON, ...args];
  }

  /** Starts a node, and kills it some time after it has said what the pattern says. */
  async killAfter(pattern: RegExp, jitterMs: number): Promise<void> {
    const args = ["dev", "--data-dir", this.#dataDir, "--port", "0", "--log-level", "debug", ...this.#args];
    const process = new CarillonProcess(args);
    await process.line(pattern);
    await sleep(this.#random.upTo(jitterMs));
    await this.#kill(process);
  }

  /** Starts a node, which must become ready and have what the one before acknowledged. */
  async restart(): Promise<void> {
    this.#node = await startDev(this.#dataDir, this.#args);
    for (const id of this.#acknowledged.slice(this.#checked)) await this.#expectThere(id);
    this.#checked = this.#acknowledged.length;
  }

  /** Kills the node while callers create jobs, some time after some of those were acknowledged. */
  async killInService(): Promise<void> {
    const { process, url } = this.#serving();
    const callers = [1, 2, 3, 4].map((caller) => this.#createJobs(url, caller));
    const creating = Promise.all(callers);
    for (let left = this.#random.upTo(6); left > 0; left--) {
      await Promise.race([once(this.#news, "acknowledged"), creating]);
    }
    await sleep(this.#random.upTo(20));
    await this.#kill(process);
    await creating;
  }

  /** Everything that was ever acknowledged is there and comes to its end; then the node stops and leaves no process. */
  async finish(): Promise<void> {
    const { process } = this.#serving();
    for (const id of this.#acknowledged) {
      await this.#expectThere(id);
      await this.#expectEnd(id);
    }
    deepEqual(await process.stop(), { code: 0, signal: null });
    deepEqual(await processesAt(this.#dataDir), []);
  }

  async #expectThere(id: string): Promise<void> {
    const { status } = await call(`${this.#serving().url}/v1/jobs/${id}`);
    equal(status, 200, `${id} was acknowledged and is lost`);
  }

  /** It ends succeeded, unless its worker was killed more often than a run bears. */
  async #expectEnd(id: string): Promise<void> {
    const { process, url } = this.#serving();
    for (let looks = 0; ; looks++) {
      const { body } = await call(`${url}/v1/jobs/${id}`);
      const run = body["run"] as { status: string; status_reason: string | null };
      if (run.status === "succeeded" || run.status_reason === "worker_lost") return;
      if (looks === MOST_LOOKS)
        fail(`${id} was acknowledged and does not run: ${JSON.stringify(body)}\n${process.stderr}`);
      await sleep(50);
    }
  }

  /** One job after the other until the server is gone; each one that was answered counts. */
  async #createJobs(url: string, caller: number): Promise<void> {
    for (let count = 0; ; count++) {
      const answer = await call(`${url}/v1/jobs`, { task: "echo", payload: { caller, count } }).catch(() => null);
      if (answer === null) return;
      equal(answer.status, 201, JSON.stringify(answer.body));
      this.#acknowledged.push(String(answer.body["id"]));
      this.#news.emit("acknowledged");
    }
  }

  async #kill(process: CarillonProcess): Promise<void> {
    process.kill("SIGKILL");
    equal((await process.ended).signal, "SIGKILL");
    this.kills += 1;
  }

  #serving(): Serving {
    if (this.#node === null) throw new Error("no node serves");
    return this.#node;
  }
}
