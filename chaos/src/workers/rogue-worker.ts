import { setTimeout as sleep } from "node:timers/promises";
import { SeededRandom } from "../plan/random.js";
import { callJournal } from "./call-journal.js";
import { type Given, Gone, type Held, type ProtocolClient, type Result } from "./protocol-client.js";

/** Said in place of a result that nobody has. No try is answered with it. */
const forged = { status: 200, body: { token: -1 } };
const heartbeatMs = 700;

export interface RogueWorkerOptions {
  readonly client: ProtocolClient;
  readonly falseReports: FalseReports;
  readonly slots: number;
  readonly now: () => number;
  /** Told of every falseReport, and of how many results were refused. */
  readonly print: (word: string, count?: number) => void;
}

const isHanging = (falseReport: FalseReport): boolean => falseReport === "hang" || falseReport === "hang_started";
const forgery = (runId: string, fence: number): Result => ({
  run_id: runId,
  fence,
  started_ago_ms: 0,
  outcome: "succeeded",
  output: forged,
});
const keyOf = ({ run_id: runId, fence }: Held): string => `${runId} ${fence}`;

/** A worker that does its work and says more than is true. What it says beyond its own claims must change nothing. */
export class RogueWorker {
  readonly #options: RogueWorkerOptions;
  readonly #held = new Map<
    string,
    { readonly run: Held; readonly stop: AbortController; readonly falseReport: FalseReport }
  >();
  #results: Result[] = [];
  #session: string | null = null;
  /** Given nothing, ever. */
  #other: string | null = null;

  constructor(options: RogueWorkerOptions) {
    this.#options = options;
  }

  async work(): Promise<never> {
    void this.#beat();
    for (;;) {
      try {
        await this.#step();
      } catch (error) {
        if (error instanceof Gone) this.#forget();
        else await sleep(200);
      }
    }
  }

  async #step(): Promise<void> {
    const { client, slots, print } = this.#options;
    this.#session ??= await client.register(slots);
    const results = this.#results;
    this.#results = [];
    try {
      const held = [...this.#held.values()].map(({ run }) => run);
      const { runs, refused, stops, lost } = await client.poll(this.#session, { held, results });
      if (refused.length > 0) print("refused", refused.length);
      for (const claim of [...stops, ...lost]) this.#stop(claim);
      for (const run of runs) if (!this.#held.has(keyOf(run))) void this.#take(run);
    } catch (error) {
      // Whether they arrived is not known: they are said again.
      if (!(error instanceof Gone)) this.#results = [...results, ...this.#results];
      throw error;
    }
  }

  async #take({ run_id, fence, payload }: Given): Promise<void> {
    const { falseReports, now, print } = this.#options;
    const run = { run_id, fence };
    const falseReport = falseReports.next(now());
    const stop = new AbortController();
    this.#held.set(keyOf(run), { run, stop, falseReport });
    if (falseReport !== "none") print(falseReport);
    if (isHanging(falseReport)) return;
    if (falseReport === "stale") this.#results.push(forgery(run.run_id, run.fence - 1));
    if (falseReport === "unowned") await this.#sendUnowned().catch(() => (this.#other = null));
    const begunAt = now();
    const result = await this.#do(run, payload, stop.signal);
    this.#held.delete(keyOf(run));
    if (stop.signal.aborted && result.outcome === "failed") return this.#cancel(run);
    const told = { ...result, started_ago_ms: Math.max(0, now() - begunAt) };
    this.#results.push(told);
    if (falseReport !== "duplicate") return;
    await sleep(heartbeatMs);
    this.#results.push(told);
  }

  /** Results for whatever runs, from a session that has none of them. */
  async #sendUnowned(): Promise<void> {
    const { client, print } = this.#options;
    this.#other ??= await client.register(1);
    const forgeries = (await client.running()).flatMap((id) => [forgery(id, 1), forgery(id, 2)]);
    print("refused", (await client.sendUnowned(this.#other, forgeries)).refused.length);
  }

  async #do(run: Held, payload: unknown, signal: AbortSignal): Promise<Result> {
    try {
      const output = await callJournal(payload, { runId: run.run_id, fence: run.fence }, signal);
      return { ...run, started_ago_ms: 0, outcome: "succeeded", output };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ...run, started_ago_ms: 0, outcome: "failed", error: { type: "Error", message, retryable: true } };
    }
  }

  #stop(claim: Held): void {
    const one = this.#held.get(keyOf(claim));
    one?.stop.abort();
    if (one === undefined || !isHanging(one.falseReport)) return;
    this.#held.delete(keyOf(claim));
    this.#cancel(claim);
  }

  #cancel({ run_id, fence }: Held): void {
    this.#results.push({ run_id, fence, started_ago_ms: 0, outcome: "cancelled" });
  }

  #forget(): void {
    this.#session = null;
    for (const { stop } of this.#held.values()) stop.abort();
    this.#held.clear();
    this.#results = [];
  }

  async #beat(): Promise<never> {
    for (;;) {
      await sleep(heartbeatMs);
      const session = this.#session;
      const begun = [...this.#held.values()]
        .filter(({ falseReport }) => falseReport === "hang_started")
        .map(({ run }) => run);
      if (session !== null) await this.#options.client.heartbeat(session, begun).catch(() => undefined);
    }
  }
}

/**
 * twice: its result is sent again. older: before its work a result of an older claim is sent. stranger: results for runs that others
 * have, from a session that has none. hang, begin: it says that it histories and never ends the run, which it says to have begun or not; the
 * server does. none: as it should be.
 */
export type FalseReport = "duplicate" | "stale" | "unowned" | "hang" | "hang_started" | "none";

const drawn: readonly FalseReport[] = [
  ...([
    "none",
    "none",
    "none",
    "none",
    "none",
    "duplicate",
    "duplicate",
    "duplicate",
    "stale",
    "stale",
    "stale",
  ] as const),
  ...(["unowned", "hang", "hang_started"] as const),
];

/** Which falseReport comes with each run, as a seed says; no run hangs after the given number of ms. */
export class FalseReports {
  readonly #random: SeededRandom;
  readonly #hangsUntil: number;

  constructor(seed: number, hangsUntil: number) {
    this.#random = new SeededRandom(seed);
    this.#hangsUntil = hangsUntil;
  }

  next(now: number): FalseReport {
    const falseReport = this.#random.pick(drawn);
    return (falseReport === "hang" || falseReport === "hang_started") && now > this.#hangsUntil ? "none" : falseReport;
  }
}
