import { setTimeout as sleep } from "node:timers/promises";
import type { DependentChange } from "../plan/dependent-job.js";
import type { Change } from "../plan/job.js";
import type { DoneChange, RunNowOutcome } from "../targets/job-history.js";
import type { Answer, ApiCall, ApiCaller } from "./api-caller.js";

/** How long an unanswered change is repeated. */
const retryLimitMs = 20_000;
const pauseMs = 300;
/** A pause with an end resumes at that time, or as soon as a node owns the shard. */
const maxExpiryMs = 20_000;

type Resume = Extract<Change, { kind: "resume" }>;

/** Refusals of a late change: the job has no occurrences left, or the end of the pause has passed. */
const tooLate = new Set(["job_ended", "field_invalid", "schedule_in_past"]);

/** Changes one job through the API, one change after the other, and records the outcome of each. */
export class JobChanger<Requested extends Change | DependentChange> {
  readonly changes: DoneChange<Requested | Resume>[] = [];
  readonly #api: ApiCaller;
  readonly #id: string;
  readonly #wire: (id: string, change: Requested) => ApiCall;
  #etag: string | null;
  /** A pause that ended at its time has created a version that this caller has not read. */
  #awaitsExpiry = false;

  constructor(
    api: ApiCaller,
    created: { id: string; etag: string | null },
    wire: (id: string, change: Requested) => ApiCall,
  ) {
    this.#api = api;
    this.#wire = wire;
    this.#id = created.id;
    this.#etag = created.etag;
  }

  /** Returns false if the outcome is unknown; the job then gets no further requests. */
  async apply(change: Requested): Promise<boolean> {
    if (this.#awaitsExpiry && !(await this.#readVersion((answer) => answer.jobState !== "paused"))) return false;
    this.#awaitsExpiry = false;
    const sentAt = Date.now();
    const outcome = await this.#request(change, sentAt);
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
    throw new Error(`A node answered a run-now with ${answer.status} ${answer.code ?? ""}.`);
  }

  /**
   * Sends the known version, so that the server refuses a repeated call if it did the earlier one. In that case, and
   * after a refusal of a late change, the version of the job shows what happened.
   */
  async #request(change: Requested, sentAt: number): Promise<"done" | "refused" | "unknown"> {
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
      } else
        throw new Error(
          `A node answered the ${change.kind} of ${this.#id} with ${answer.status} ${answer.code ?? ""}.`,
        );
    }
    return "unknown";
  }

  /** Returns false if no node reported the expected state in time. */
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
    this.changes.push({ change, sentAt: until, settledAt: isKnown ? until + maxExpiryMs : null });
  }
}
