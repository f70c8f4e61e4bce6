import { problemError, type RunBatchCreated, type RunCreate, type WorkerRegistered } from "@carillon/client";
import { type Completion, type NoteAnswer, present, type RunNote } from "@carillon/core";
import type { CreatedRun } from "../../runtime/task.js";
import type { WorkerTimers } from "../../runtime/timers.js";
import type { ParentRun, Registration, StartedRun, Transport, TransportEvents } from "../../runtime/transport.js";
import type { StartHeartbeat } from "./heartbeat.js";
import { threadHeartbeat } from "./heartbeat-thread.js";
import { HttpSession } from "./http-session.js";
import {
  backoffMs,
  type Caller,
  createPoster,
  pickCaller,
  type Poster,
  ServerCalls,
  ServerRefused,
  SessionGone,
} from "./server-calls.js";
import { type ClaimRef, registrationJson } from "./wire.js";

export interface HttpTransportOptions extends Caller {
  /** Nodes of one cluster; the next is used when one fails. */
  readonly urls: readonly string[];
  readonly timers: WorkerTimers;
  /** From 0 to 1, for the jitter of delays. */
  readonly random: () => number;
  /** Sends the heartbeats; by default from a thread of their own. */
  readonly heartbeat?: StartHeartbeat;
}

const registerTimeoutMs = 10_000;
const createTimeoutMs = 30_000;
/** Of a call for new runs: about three seconds in all, after which the handler gets the error. */
const maxRepeats = 5;
/** The maximum number of runs that the server accepts in one call. */
const maxRunsPerCall = 1_000;

/** The namespace and the trace of the run whose handler calls. */
function parentHeaders({ namespace, traceparent, tracestate }: ParentRun): Record<string, string> {
  return present({ "carillon-namespace": namespace, traceparent, tracestate });
}

/** Connects a worker to the nodes of a cluster over HTTP. Owns one session at a time. */
export class HttpTransport implements Transport {
  readonly #options: HttpTransportOptions;
  readonly #poster: Poster;
  readonly #calls: ServerCalls;
  readonly #closing = new AbortController();
  #session: HttpSession | null = null;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#poster = createPoster(options);
    this.#calls = new ServerCalls(this.#poster, options.urls);
  }

  /** Retries until a node registers the worker; throws only if a node refuses it, or when `close` is called meanwhile. */
  async open(registration: Registration, events: TransportEvents): Promise<void> {
    const registered = await this.#register(registration, events);
    const { urls, timers, random, heartbeat = threadHeartbeat(timers) } = this.#options;
    const session = { registered, calls: this.#calls, events, timers, random, urls, heartbeat };
    this.#session = new HttpSession({ ...session, ...pickCaller(this.#options) });
    this.#session.start();
  }

  async pause(): Promise<void> {
    if (this.#session?.isOver === false) await this.#session.pause();
  }

  async complete(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return this.#openSession().complete(completions);
  }

  async started(runs: readonly StartedRun[]): Promise<void> {
    return this.#openSession().started(runs);
  }

  async note(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    return this.#openSession().note(notes);
  }

  /**
   * Needs no session: the requests of handlers carry dedupe keys, so that a repeated one creates no second run. For the same reason a
   * call is repeated when its outcome is unknown, unless one of its runs would be refused or replaced then.
   */
  async createRuns(parent: ParentRun, runs: readonly RunCreate[]): Promise<readonly CreatedRun[]> {
    const created: CreatedRun[] = [];
    let refusal: Error | null = null;
    for (let start = 0; start < runs.length; start += maxRunsPerCall) {
      const { results } = await this.#createChunk(parent, runs.slice(start, start + maxRunsPerCall));
      for (const { id = "", is_new: isNew = false, problem } of results) {
        if (problem !== undefined) refusal ??= problemError(problem);
        created.push({ id, isNew });
      }
    }
    if (refusal !== null) throw refusal;
    return created;
  }

  async #createChunk(parent: ParentRun, runs: readonly RunCreate[]): Promise<RunBatchCreated> {
    const json = JSON.stringify({ runs });
    const canRepeat = runs.every(({ dedupe }) => dedupe !== undefined && (dedupe.on ?? "ignore") === "ignore");
    const options = { timeoutMs: createTimeoutMs, signal: this.#closing.signal, headers: parentHeaders(parent) };
    for (let failures = 1; ; failures++) {
      try {
        return await this.#calls.post<RunBatchCreated>("/v1/runs:batchCreate", json, options);
      } catch (error) {
        const isFinal = error instanceof ServerRefused && error.isFinal;
        if (isFinal || !canRepeat || failures > maxRepeats || this.#closing.signal.aborted) throw error;
        const { timers, random } = this.#options;
        await new Promise<void>((resolve) => void timers.setTimeout(resolve, backoffMs(failures, random())));
      }
    }
  }

  async giveBack(claims: readonly ClaimRef[]): Promise<void> {
    return this.#openSession().giveBack(claims);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const session = this.#session;
    this.#session = null;
    try {
      await session?.close();
    } finally {
      this.#poster.close();
    }
  }

  isSessionLost(error: unknown): boolean {
    return error instanceof SessionGone || this.#session === null || this.#session.isOver;
  }

  async #register(registration: Registration, events: TransportEvents): Promise<WorkerRegistered> {
    let json = registrationJson(registration);
    const plainJson = registrationJson(withoutDefaults(registration));
    const { timers, random } = this.#options;
    const { signal } = this.#closing;
    for (let failures = 0; ;) {
      try {
        const options = { timeoutMs: registerTimeoutMs, signal };
        return await this.#calls.post<WorkerRegistered>("/v1/workers:register", json, options);
      } catch (error) {
        if (refusesDefaults(error) && json !== plainJson) {
          json = plainJson;
          continue;
        }
        if (signal.aborted || (error instanceof ServerRefused && error.isFinal)) throw error;
        events.onFailure(error);
        failures++;
        const delayMs = failures < this.#calls.nodeCount ? 0 : backoffMs(failures, random());
        await new Promise<void>((resolve) => void timers.setTimeout(resolve, delayMs));
        signal.throwIfAborted();
      }
    }
  }

  #openSession(): HttpSession {
    if (this.#session === null) throw new SessionGone("the worker is not registered");
    return this.#session;
  }
}

/** A server of an older version does not know `defaults`; it registers the worker without them. */
function refusesDefaults(error: unknown): boolean {
  return (
    error instanceof ServerRefused &&
    error.code === "unknown_field" &&
    error.items.some(({ pointer }) => pointer === "/defaults")
  );
}

function withoutDefaults(registration: Registration): Registration {
  const { defaults: _, ...rest } = registration;
  return rest;
}
