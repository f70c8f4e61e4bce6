import { setTimeout as sleep } from "node:timers/promises";
import { SeededRandom } from "../plan/random.js";
import { callJournal } from "./call-journal.js";
import { type AssignedRun, SessionEnded, type HeldRun, type ProtocolClient, type Result } from "./protocol-client.js";

/**
 * duplicate: sends its result twice. stale: sends a result with an older fence before its work. unowned: sends results
 * for other workers' runs, from a session that holds none. hang, hang_started: keeps sending heartbeats and never ends
 * the run, without or with reporting it as started, so the server must end it. none: follows the protocol.
 */
export type FalseReport = "duplicate" | "stale" | "unowned" | "hang" | "hang_started" | "none";

const drawn: readonly FalseReport[] = [
  ...(["none", "none", "none", "none", "none"] as const),
  ...(["duplicate", "duplicate", "duplicate", "stale", "stale", "stale"] as const),
  ...(["unowned", "hang", "hang_started"] as const),
];

/** Draws the false report for each run from a seed; no run hangs after the given time. */
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

/** The output of a forged result; the journal never answers an attempt with it. */
const forged = { status: 200, body: { token: -1 } };
const heartbeatMs = 700;

export interface RogueWorkerOptions {
  readonly client: ProtocolClient;
  readonly falseReports: FalseReports;
  readonly slots: number;
  readonly now: () => number;
  /** Receives every false report, and how many results were refused. */
  readonly print: (event: string, count?: number) => void;
}

const isHanging = (falseReport: FalseReport): boolean => falseReport === "hang" || falseReport === "hang_started";
const forgery = (runId: string, fence: number): Result => ({
  run_id: runId,
  fence,
  started_ago_ms: 0,
  outcome: "succeeded",
  output: forged,
});
const keyOf = ({ run_id: runId, fence }: HeldRun): string => `${runId} ${fence}`;

/**
 * A worker that does its work and also sends false reports. The server must ignore everything beyond its own claims.
 */
export class RogueWorker {
  readonly #options: RogueWorkerOptions;
  readonly #held = new Map<
    string,
    { readonly run: HeldRun; readonly stop: AbortController; readonly falseReport: FalseReport }
  >();
  #results: Result[] = [];
  #session: string | null = null;
  /** A session that never gets any runs. */
  #other: string | null = null;

  constructor(options: RogueWorkerOptions) {
    this.#options = options;
  }

  async work(): Promise<never> {
    void this.#sendHeartbeats();
    for (;;) {
      try {
        await this.#step();
      } catch (error) {
        if (error instanceof SessionEnded) this.#forget();
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
      // The server may not have received the results, so they are sent again.
      if (!(error instanceof SessionEnded)) this.#results = [...results, ...this.#results];
      throw error;
    }
  }

  async #take({ run_id, fence, payload }: AssignedRun): Promise<void> {
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
    const report = { ...result, started_ago_ms: Math.max(0, now() - begunAt) };
    this.#results.push(report);
    if (falseReport !== "duplicate") return;
    await sleep(heartbeatMs);
    this.#results.push(report);
  }

  /** Sends forged results for running runs from a session that holds none of them. */
  async #sendUnowned(): Promise<void> {
    const { client, print } = this.#options;
    this.#other ??= await client.register(1);
    const forgeries = (await client.running()).flatMap((id) => [forgery(id, 1), forgery(id, 2)]);
    print("refused", (await client.sendUnowned(this.#other, forgeries)).refused.length);
  }

  async #do(run: HeldRun, payload: unknown, signal: AbortSignal): Promise<Result> {
    try {
      const output = await callJournal(payload, { runId: run.run_id, fence: run.fence }, signal);
      return { ...run, started_ago_ms: 0, outcome: "succeeded", output };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { ...run, started_ago_ms: 0, outcome: "failed", error: { type: "Error", message, retryable: true } };
    }
  }

  #stop(claim: HeldRun): void {
    const one = this.#held.get(keyOf(claim));
    one?.stop.abort();
    if (one === undefined || !isHanging(one.falseReport)) return;
    this.#held.delete(keyOf(claim));
    this.#cancel(claim);
  }

  #cancel({ run_id, fence }: HeldRun): void {
    this.#results.push({ run_id, fence, started_ago_ms: 0, outcome: "cancelled" });
  }

  #forget(): void {
    this.#session = null;
    for (const { stop } of this.#held.values()) stop.abort();
    this.#held.clear();
    this.#results = [];
  }

  async #sendHeartbeats(): Promise<never> {
    for (;;) {
      await sleep(heartbeatMs);
      const session = this.#session;
      const started = [...this.#held.values()]
        .filter(({ falseReport }) => falseReport === "hang_started")
        .map(({ run }) => run);
      if (session !== null) await this.#options.client.heartbeat(session, started).catch(() => undefined);
    }
  }
}
