import { setTimeout as sleep } from "node:timers/promises";
import type { Change } from "../plan/change.js";
import type { DoneChange, RunNowOutcome } from "../targets/life.js";
import type { Answer, ApiCaller } from "./api-caller.js";
import { wireChange } from "./wire-form.js";

/** How long a change that is not answered is asked for again. */
const patienceMs = 20_000;
const pauseMs = 300;
/** A pause that ends by itself does so at its time, or as soon as some node has the shard. */
const expiryMs = 20_000;

/** Refusals of a change that came too late: the job has nothing left to fire, or the pause would be over already. */
const tooLate = new Set(["job_ended", "field_invalid", "schedule_in_past"]);

/** Changes one job by the API, one change after the other, and keeps what is known of each. */
export class JobChanger {
  readonly changes: DoneChange[] = [];
  readonly #api: ApiCaller;
  readonly #id: string;
  #etag: string | null;

  constructor(api: ApiCaller, made: { id: string; etag: string | null }) {
    this.#api = api;
    this.#id = made.id;
    this.#etag = made.etag;
  }

  /** False when the outcome is unknown, so that nothing more can be asked of the job. */
  async make(change: Change): Promise<boolean> {
    const sentAt = Date.now();
    const answer = await this.#ask(change, sentAt);
    if (answer !== null && tooLate.has(answer.code ?? "")) return true;
    this.changes.push({ change, sentAt, settledAt: answer === null ? null : Date.now() });
    if (change.kind === "pause" && change.until !== null)
      this.#noteExpiry(change.until, change.missed, answer !== null);
    if (answer === null) return false;
    if (answer.status !== 412) this.#etag = answer.etag;
    return answer.status === 412 ? this.#readVersion(sentAt) : true;
  }

  async runNow(): Promise<RunNowOutcome> {
    const answer = await this.#api.call({ method: "POST", path: `/v1/jobs/${this.#id}:runNow`, body: {} });
    if (answer === null) return "unknown";
    if (answer.status === 201) return "made";
    if (answer.code === "job_busy" || answer.code === "overlap_refused" || answer.code === "job_ended")
      return "refused";
    throw new Error(`run-now was answered with ${answer.status} ${answer.code ?? ""}`);
  }

  /** With the version that we know: if an earlier call has been done after all, the next one is refused with 412. */
  async #ask(change: Change, sentAt: number): Promise<Answer | null> {
    while (Date.now() - sentAt < patienceMs) {
      const answer = await this.#api.call({ ...wireChange(this.#id, change), ifMatch: this.#etag });
      if (answer === null || answer.code === "job_busy") await sleep(pauseMs);
      else if (answer.status < 300 || answer.status === 412 || tooLate.has(answer.code ?? "")) return answer;
      else throw new Error(`${change.kind} was answered with ${answer.status} ${answer.code ?? ""}`);
    }
    return null;
  }

  async #readVersion(since: number): Promise<boolean> {
    while (Date.now() - since < 2 * patienceMs) {
      const answer = await this.#api.call({ method: "GET", path: `/v1/jobs/${this.#id}` });
      if (answer?.status === 200) {
        this.#etag = answer.etag;
        return true;
      }
      await sleep(pauseMs);
    }
    return false;
  }

  #noteExpiry(until: number, missed: "none" | "latest" | "all", isKnown: boolean): void {
    const change = { kind: "resume", missed } as const;
    this.changes.push({ change, sentAt: until, settledAt: isKnown ? until + expiryMs : null });
  }
}
