import { setTimeout as sleep } from "node:timers/promises";
import type { DependentChange } from "../plan/dependent-job.js";
import type { Change } from "../plan/job.js";
import type { DoneChange, RunNowOutcome } from "../targets/job-history.js";
import type { Answer, ApiCall, ApiCaller } from "./api-caller.js";

/** How long a change that is not answered is asked for again. */
const retryLimitMs = 20_000;
const pauseMs = 300;
/** A pause that ends by itself does so at its time, or as soon as some node has the shard. */
const expiryMs = 20_000;

type Resume = Extract<Change, { kind: "resume" }>;

/** Refusals of a change that came too late: the job has nothing left to fire, or the pause would be over already. */
const tooLate = new Set(["job_ended", "field_invalid", "schedule_in_past"]);

/** Changes one job by the API, one change after the other, and keeps what is known of each. */
export class JobChanger<Asked extends Change | DependentChange> {
  readonly changes: DoneChange<Asked | Resume>[] = [];
  readonly #api: ApiCaller;
  readonly #id: string;
  readonly #wire: (id: string, change: Asked) => ApiCall;
  #etag: string | null;
  /** A pause that ends by itself makes a version that we do not know. */
  #awaitsExpiry = false;

  constructor(api: ApiCaller, made: { id: string; etag: string | null }, wire: (id: string, change: Asked) => ApiCall) {
    this.#api = api;
    this.#wire = wire;
    this.#id = made.id;
    this.#etag = made.etag;
  }

  /** False when the outcome is unknown, so that nothing more can be asked of the job. */
  async make(change: Asked): Promise<boolean> {
    if (this.#awaitsExpiry && !(await this.#readVersion((answer) => answer.jobState !== "paused"))) return false;
    this.#awaitsExpiry = false;
    const sentAt = Date.now();
    const outcome = await this.#ask(change, sentAt);
    if (outcome === "refused") return true;
    this.changes.push({ change, sentAt, settledAt: outcome === "unknown" ? null : Date.now() });
    if (change.kind === "pause" && change.until !== null)
      this.#noteExpiry(change.until, change.missed, outcome === "done");
    return outcome === "done";
  }

  async runNow(): Promise<RunNowOutcome> {
    const answer = await this.#api.call({ method: "POST", path: `/v1/jobs/${this.#id}:runNow`, body: {} });
    if (answer === null) return "unknown";
    if (answer.status === 201) return "made";
    if (answer.code === "job_busy" || answer.code === "overlap_refused" || answer.code === "job_ended")
      return "refused";
    throw new Error(`run-now was answered with ${answer.status} ${answer.code ?? ""}`);
  }

  /**
   * With the version that we know: if an earlier call has been done after all, the next one is refused. Then, and when it came too
   * late, the version tells.
   */
  async #ask(change: Asked, sentAt: number): Promise<"done" | "refused" | "unknown"> {
    for (let isFirst = true; Date.now() - sentAt < retryLimitMs; isFirst = false) {
      const answer = await this.#api.call({ ...this.#wire(this.#id, change), ifMatch: this.#etag });
      if (answer === null || answer.code === "job_busy") await sleep(pauseMs);
      else if (answer.status < 300) {
        this.#etag = answer.etag;
        return "done";
      } else if (tooLate.has(answer.code ?? "") && isFirst) return "refused";
      else if (tooLate.has(answer.code ?? "") || (answer.status === 412 && !isFirst)) {
        const before = this.#etag;
        if (!(await this.#readVersion(() => true))) return "unknown";
        return this.#etag === before ? "refused" : "done";
      } else throw new Error(`${change.kind} of ${this.#id} was answered with ${answer.status} ${answer.code ?? ""}`);
    }
    return "unknown";
  }

  /** False when no node said in time that the job is as it should be. */
  async #readVersion(isReady: (answer: Answer) => boolean): Promise<boolean> {
    for (const since = Date.now(); Date.now() - since < retryLimitMs; await sleep(pauseMs)) {
      const answer = await this.#api.call({ method: "GET", path: `/v1/jobs/${this.#id}` });
      if (answer?.status !== 200 || !isReady(answer)) continue;
      this.#etag = answer.etag;
      return true;
    }
    return false;
  }

  #noteExpiry(until: number, missed: "none" | "latest" | "all", isKnown: boolean): void {
    this.#awaitsExpiry = true;
    const change = { kind: "resume", missed } as const;
    this.changes.push({ change, sentAt: until, settledAt: isKnown ? until + expiryMs : null });
  }
}
