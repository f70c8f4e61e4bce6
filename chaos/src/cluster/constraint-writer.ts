import { setTimeout as sleep } from "node:timers/promises";
import type { CalendarFlip, ChaosWindow } from "../plan/constraints.js";
import type { Answer, ApiCall, ApiCaller } from "./api-caller.js";
import { calendarName, wireWindow } from "./wire-form.js";

/** A flip as it was asked for; every job of the calendar followed it at some instant between the two. */
export interface DoneFlip {
  readonly closes: boolean;
  readonly sentAt: number;
  readonly settledAt: number;
}

/** Longer than all nodes are disturbed at once. */
const retryLimitMs = 60_000;
const pauseMs = 300;
/** Who did not hear of a new version looks by itself, as soon as some node has the shard. */
const followMs = 15_000;
const dayMs = 86_400_000;
const longPast = "2001-01-01";
const calendarPath = `/v1/calendars/${calendarName}`;

/** Makes what is about several jobs, by the API, and asks again until it is acknowledged. */
export class ConstraintWriter {
  readonly #api: ApiCaller;
  readonly #begin: number;
  /** The calendar's version: a call that comes late does nothing after another. */
  #etag: string | null = null;

  constructor(api: ApiCaller, begin: number) {
    this.#api = api;
    this.#begin = begin;
  }

  /** Before any job: they name the calendar. */
  async prepare(windows: readonly ChaosWindow[]): Promise<void> {
    this.#etag = await this.#put(calendarPath, { rules: [{ dates: [longPast] }] });
    for (const window of windows) await this.#put(`/v1/maintenance-windows/${window.mode}`, wireWindow(window));
  }

  async flip(flips: readonly CalendarFlip[]): Promise<DoneFlip[]> {
    const done: DoneFlip[] = [];
    for (const { atMs, closes } of flips) {
      await sleep(Math.max(0, this.#begin + atMs - Date.now()));
      const sentAt = Date.now();
      // Whatever the zone, these are all the days of the load.
      const days = [-1, 0, 1, 2].map((by) => new Date(sentAt + by * dayMs).toISOString().slice(0, 10));
      this.#etag = await this.#put(calendarPath, { rules: [{ dates: closes ? days : [longPast] }] }, this.#etag);
      done.push({ closes, sentAt, settledAt: Date.now() + followMs });
    }
    return done;
  }

  /** Answers the version. A call with the one that we know is refused when an earlier one of ours was done after all. */
  async #put(path: string, body: object, ifMatch: string | null = null): Promise<string | null> {
    const put = await this.#ask({ method: "PUT", path, body, ifMatch });
    const answer = put.status === 412 ? await this.#ask({ method: "GET", path }) : put;
    if (answer.status < 300) return answer.etag;
    throw new Error(`${path} was answered with ${answer.status} ${answer.code ?? ""}`);
  }

  async #ask(call: ApiCall): Promise<Answer> {
    for (const since = Date.now(); Date.now() - since < retryLimitMs; await sleep(pauseMs)) {
      const answer = await this.#api.call(call);
      if (answer !== null) return answer;
    }
    throw new Error(`${call.path} was not answered for ${retryLimitMs} ms`);
  }
}
