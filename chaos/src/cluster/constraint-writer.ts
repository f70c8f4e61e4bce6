import { setTimeout as sleep } from "node:timers/promises";
import type { CalendarFlip, ChaosWindow } from "../plan/constraints.js";
import type { Answer, ApiCall, ApiCaller } from "./api-caller.js";
import { calendarName, wireWindow } from "./wire-form.js";

/** A calendar flip that was done. Every job with the calendar applied it at some instant between the two. */
export interface DoneFlip {
  readonly closes: boolean;
  readonly sentAt: number;
  readonly settledAt: number;
}

/** Longer than any time in which all nodes are disturbed at once. */
const retryLimitMs = 60_000;
const pauseMs = 300;
/** A node that missed the notification reads the new version with its next scan, once it owns the shard. */
const maxApplyMs = 15_000;
const dayMs = 86_400_000;
const longPast = "2001-01-01";
const calendarPath = `/v1/calendars/${calendarName}`;

/** Writes the windows and the calendar through the API, and repeats each request until a node acknowledges it. */
export class ConstraintWriter {
  readonly #api: ApiCaller;
  readonly #loadStart: number;
  /** The version of the calendar, so that the server refuses a delayed call after a later one. */
  #etag: string | null = null;

  constructor(api: ApiCaller, loadStart: number) {
    this.#api = api;
    this.#loadStart = loadStart;
  }

  /** Must run before jobs are created, because jobs name the calendar. */
  async prepare(windows: readonly ChaosWindow[]): Promise<void> {
    this.#etag = await this.#put(calendarPath, { rules: [{ dates: [longPast] }] });
    for (const window of windows) await this.#put(`/v1/maintenance-windows/${window.mode}`, wireWindow(window));
  }

  async flip(flips: readonly CalendarFlip[]): Promise<DoneFlip[]> {
    const done: DoneFlip[] = [];
    for (const { atMs, closes } of flips) {
      await sleep(Math.max(0, this.#loadStart + atMs - Date.now()));
      const sentAt = Date.now();
      // These dates cover the load in every time zone.
      const days = [-1, 0, 1, 2].map((by) => new Date(sentAt + by * dayMs).toISOString().slice(0, 10));
      this.#etag = await this.#put(calendarPath, { rules: [{ dates: closes ? days : [longPast] }] }, this.#etag);
      done.push({ closes, sentAt, settledAt: Date.now() + maxApplyMs });
    }
    return done;
  }

  /**
   * Returns the new version. The server refuses a call with our version if it already did an earlier attempt of ours.
   */
  async #put(path: string, body: object, ifMatch: string | null = null): Promise<string | null> {
    const put = await this.#callUntilAnswered({ method: "PUT", path, body, ifMatch });
    const answer = put.status === 412 ? await this.#callUntilAnswered({ method: "GET", path }) : put;
    if (answer.status < 300) return answer.etag;
    throw new Error(`A node answered ${path} with ${answer.status} ${answer.code ?? ""}.`);
  }

  async #callUntilAnswered(call: ApiCall): Promise<Answer> {
    for (const since = Date.now(); Date.now() - since < retryLimitMs; await sleep(pauseMs)) {
      const answer = await this.#api.call(call);
      if (answer !== null) return answer;
    }
    throw new Error(`No node answered ${call.path} for ${retryLimitMs} ms.`);
  }
}
