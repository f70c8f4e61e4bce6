import { parseId } from "@carillon/core";

export interface HeldRun {
  readonly run_id: string;
  readonly fence: number;
}

export interface AssignedRun extends HeldRun {
  readonly payload: unknown;
}

export interface Result extends HeldRun {
  readonly started_ago_ms: number;
  readonly outcome: "succeeded" | "failed" | "cancelled";
  readonly output?: unknown;
  readonly error?: { readonly type: string; readonly message: string; readonly retryable: boolean };
}

export interface PollAnswer {
  readonly runs: readonly AssignedRun[];
  readonly refused: readonly string[];
  readonly stops: readonly HeldRun[];
  readonly lost: readonly HeldRun[];
}

/** The server has ended the session. */
export class SessionEnded extends Error {}

const callLimitMs = 4_000;

/** A hand-written client of the worker protocol, which can send any message, also a false one. */
export class ProtocolClient {
  readonly #urls: readonly string[];
  #calls = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  async register(slots: number): Promise<string> {
    const worker = { name: "rogue", queues: ["*"], tasks: ["http"], slots, ahead: 0 };
    return (await this.#post<{ id: string }>("/v1/workers:register", worker)).id;
  }

  /** Sends results from a session that holds no runs. */
  async sendUnowned(id: string, results: readonly Result[]): Promise<PollAnswer> {
    return this.#post(`/v1/workers/${id}:poll`, { held: [], results, draining: true });
  }

  poll(id: string, body: { held: readonly HeldRun[]; results: readonly Result[] }): Promise<PollAnswer> {
    return this.#post(`/v1/workers/${id}:poll`, { ...body, wait_ms: 500 });
  }

  async heartbeat(id: string, begun: readonly HeldRun[]): Promise<void> {
    const started = begun.map((run) => ({ ...run, ago_ms: 0 }));
    await this.#post(`/v1/workers/${id}:heartbeat`, { started });
  }

  /** The ids of runs that are running on any worker. */
  async running(): Promise<string[]> {
    const { runs } = await this.#call<{ runs: { id: string }[] }>("/v1/runs?status=running&page_size=20", {});
    return runs.map(({ id }) => parseId("run", id));
  }

  #post<Answer>(path: string, body: object): Promise<Answer> {
    const headers = { "content-type": "application/json" };
    return this.#call(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** After a failed call, the next call uses another node. */
  async #call<Answer>(path: string, init: RequestInit): Promise<Answer> {
    const url = this.#urls[this.#calls % this.#urls.length] ?? "";
    try {
      const response = await fetch(new URL(path, url), { ...init, signal: AbortSignal.timeout(callLimitMs) });
      if (response.status === 410) throw new SessionEnded();
      if (!response.ok) throw new Error(`A node answered ${path} with ${response.status}.`);
      return (await response.json()) as Answer;
    } catch (error) {
      if (!(error instanceof SessionEnded)) this.#calls++;
      throw error;
    }
  }
}
