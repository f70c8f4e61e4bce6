import type { Completion, NoteAnswer, RunNote } from "@carillon/core";
import type { WorkerRegistered } from "@carillon/client";
import type { WorkerTimers } from "../../runtime/timers.js";
import type { Registration, StartedRun, Transport, TransportEvents } from "../../runtime/transport.js";
import { Endpoints } from "./endpoints.js";
import type { Heart } from "./heart/heart.js";
import { threadHeart } from "./heart/thread-heart.js";
import { HttpSession } from "./http-session.js";
import { type Caller, callerOf, createPoster, type Poster } from "./post.js";
import { backoffMs, ServerCalls, ServerRefused, SessionGone } from "./server-calls.js";
import { type ClaimName, registrationJson } from "./wire.js";

export interface HttpTransportOptions extends Caller {
  /** Nodes of one cluster; the next is used when one fails. */
  readonly urls: readonly string[];
  readonly timers: WorkerTimers;
  /** From 0 to 1, for the jitter of waits. */
  readonly random: () => number;
  /** Says that the worker lives; by default from a thread of its own. */
  readonly heart?: Heart;
}

const registerWithinMs = 10_000;

/** The worker in a process of its own: talks to the nodes of a cluster over HTTP. */
export class HttpTransport implements Transport {
  readonly #options: HttpTransportOptions;
  readonly #poster: Poster;
  readonly #calls: ServerCalls;
  readonly #closing = new AbortController();
  #session: HttpSession | null = null;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#poster = createPoster(options);
    this.#calls = new ServerCalls(this.#poster, new Endpoints(options.urls));
  }

  /** Tries until a node takes the worker; throws only if it is refused, or closed meanwhile. */
  async open(registration: Registration, events: TransportEvents): Promise<void> {
    const registered = await this.#register(registration, events);
    const { urls, timers, random, heart = threadHeart(timers) } = this.#options;
    const calls = this.#calls;
    const caller = callerOf(this.#options);
    this.#session = new HttpSession({ registered, calls, events, timers, random, urls, heart, ...caller });
    this.#session.start();
  }

  async pause(): Promise<void> {
    if (this.#session?.isOver === false) await this.#session.pause();
  }

  async complete(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return this.#open().complete(completions);
  }

  async started(runs: readonly StartedRun[]): Promise<void> {
    return this.#open().started(runs);
  }

  async note(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    return this.#open().note(notes);
  }

  async giveBack(runs: readonly ClaimName[]): Promise<void> {
    return this.#open().giveBack(runs);
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
        const how = { timeoutMs: registerWithinMs, signal };
        return await this.#calls.post<WorkerRegistered>("/v1/workers:register", json, how);
      } catch (error) {
        if (isOlder(error) && json !== plainJson) {
          json = plainJson;
          continue;
        }
        if (signal.aborted || (error instanceof ServerRefused && error.isFinal)) throw error;
        events.onFailure(error);
        failures++;
        const delayMs = failures < this.#calls.nodes ? 0 : backoffMs(failures, random());
        await new Promise<void>((resolve) => void timers.setTimeout(resolve, delayMs));
        signal.throwIfAborted();
      }
    }
  }

  #open(): HttpSession {
    if (this.#session === null) throw new SessionGone("the worker is not registered");
    return this.#session;
  }
}

/** A server of an older version knows of no defaults: it takes the worker without them. */
function isOlder(error: unknown): boolean {
  return error instanceof ServerRefused && error.code === "unknown_field" && error.pointers.includes("/defaults");
}

function withoutDefaults(registration: Registration): Registration {
  const { defaults: _, ...rest } = registration;
  return rest;
}
