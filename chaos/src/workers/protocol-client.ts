import { parseId } from "@carillon/core";

export interface Held {
  readonly run_id: string;
  readonly fence: number;
}

export interface Given extends Held {
  readonly payload: unknown;
}

export interface Result extends Held {
  readonly started_ago_ms: number;
  readonly outcome: "succeeded" | "failed" | "cancelled";
  readonly output?: unknown;
  readonly error?: { readonly type: string; readonly message: string; readonly retryable: boolean };
}

export interface Polled {
  readonly runs: readonly Given[];
  readonly refused: readonly string[];
  readonly stops: readonly Held[];
  readonly lost: readonly Held[];
}

/** The session is over. */
export class Gone extends Error {}

const callLimitMs = 4_000;

/** The worker protocol by hand: whoever uses it can print whatever it likes. */
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

  /** Sends results from a session that is given nothing. */
  async sendUnowned(id: string, results: readonly Result[]): Promise<Polled> {
    return this.#post(`/v1/workers/${id}:poll`, { held: [], results, draining: true });
  }

  poll(id: string, body: { held: readonly Held[]; results: readonly Result[] }): Promise<Polled> {
    return this.#post(`/v1/workers/${id}:poll`, { ...body, wait_ms: 500 });
  }

  async heartbeat(id: string, begun: readonly Held[]): Promise<void> {
    const started = begun.map((run) => ({ ...run, ago_ms: 0 }));
    await this.#post(`/v1/workers/${id}:heartbeat`, { started });
  }

  /** Runs that are at work somewhere. */
  async running(): Promise<string[]> {
    const { runs } = await this.#call<{ runs: { id: string }[] }>("/v1/runs?status=running&page_size=20", {});
    return runs.map(({ id }) => parseId("run", id));
  }

  #post<Answer>(path: string, body: object): Promise<Answer> {
    const headers = { "content-type": "application/json" };
    return this.#call(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** A call that fails goes to another node the next time. */
  async #call<Answer>(path: string, init: RequestInit): Promise<Answer> {
    const url = this.#urls[this.#calls % this.#urls.length] ?? "";
    try {
      const response = await fetch(new URL(path, url), { ...init, signal: AbortSignal.timeout(callLimitMs) });
      if (response.status === 410) throw new Gone();
      if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
      return (await response.json()) as Answer;
    } catch (error) {
      if (!(error instanceof Gone)) this.#calls++;
      throw error;
    }
  }
}
