import { CarillonError, type DurationMs, type Timers } from "@carillon/core";

export interface EtcdClientOptions extends EtcdRequestOptions {
  /** Such as http://127.0.0.1:2379; tried in turn. */
  readonly endpoints: readonly string[];
}

export interface Entry {
  readonly key: string;
  readonly value: string;
}

/** By default etcd takes at most 128 operations in one transaction, nested ones included. */
const maxOperations = 100;

/** etcd 3.4 or newer, over the JSON gateway that is part of the server. */
export class EtcdClient {
  readonly #options: EtcdClientOptions;
  #turn = 0;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
  }

  /** Makes a lease that ends by itself unless it is kept alive; returns its id. */
  async grant(ttlMs: DurationMs): Promise<string> {
    return text(field(await this.#call("lease/grant", { TTL: String(Math.ceil(ttlMs / 1_000)) }), "ID"));
  }

  /** false: the lease has ended. */
  async keepAlive(lease: string): Promise<boolean> {
    const result = field(await this.#call("lease/keepalive", { ID: lease }), "result");
    return Number(text(field(result, "TTL", "0"))) > 0;
  }

  /** Ends a lease and removes the entries under it. A lease that has ended already is no error. */
  async revoke(lease: string): Promise<void> {
    if (await this.keepAlive(lease)) await this.#call("lease/revoke", { ID: lease });
  }

  /** false: the lease has ended. */
  async put({ key, value }: Entry, lease: string): Promise<boolean> {
    return (await underLease(this.#call("kv/put", { key: encode(key), value: encode(value), lease }))) !== null;
  }

  /** Every entry whose key begins with the prefix. */
  async list(prefix: string): Promise<Entry[]> {
    const end = Buffer.from(prefix);
    end[end.length - 1] = (end[end.length - 1] ?? 0) + 1;
    const found = await this.#call("kv/range", { key: encode(prefix), range_end: end.toString("base64") });
    return list(field(found, "kvs", [])).map(toEntry);
  }

  /**
   * Creates the entries that do not exist; returns those that now have the given value, also if another call stored it. None once the
   * lease has ended: entries under it are removed with it.
   */
  async create(entries: readonly Entry[], lease: string): Promise<Entry[]> {
    const made = this.#each(entries, ({ key, value }) => ({
      compare: [{ target: "CREATE", key: encode(key), create_revision: "0" }],
      success: [{ request_put: { key: encode(key), value: encode(value), lease } }],
      failure: [{ request_range: { key: encode(key) } }],
    }));
    const responses = await underLease(made);
    if (responses === null) return [];
    return entries.filter((entry, at) => {
      const response = responses[at] ?? null;
      return field(response, "succeeded", false) === true || valueFound(response) === entry.value;
    });
  }

  /** Removes the entries that still have the given value. */
  async remove(entries: readonly Entry[]): Promise<void> {
    await this.#each(entries, ({ key, value }) => ({
      compare: [{ target: "VALUE", key: encode(key), value: encode(value) }],
      success: [{ request_delete_range: { key: encode(key) } }],
    }));
  }

  /** One nested transaction for each entry, as many in a request as etcd takes; returns their responses in order. */
  async #each(entries: readonly Entry[], transaction: (entry: Entry) => object): Promise<Json[]> {
    const responses: Json[] = [];
    for (let at = 0; at < entries.length; at += maxOperations) {
      const some = entries.slice(at, at + maxOperations);
      const answer = await this.#call("kv/txn", {
        success: some.map((entry) => ({ request_txn: transaction(entry) })),
      });
      responses.push(...list(field(answer, "responses")).map((response) => field(response, "response_txn")));
    }
    return responses;
  }

  /** Tries each endpoint once, beginning with the one that responded last. */
  async #call(path: string, body: object): Promise<Json> {
    const { endpoints } = this.#options;
    let failure: unknown;
    for (let tried = 0; tried < endpoints.length; tried++) {
      try {
        const endpoint = endpoints[this.#turn % endpoints.length] ?? "";
        return await requestEtcd(`${endpoint}/v3/${path}`, body, this.#options);
      } catch (error) {
        if (error instanceof CarillonError) throw error;
        failure = error;
        this.#turn++;
      }
    }
    throw new CarillonError("etcd_unavailable", `etcd does not answer at ${endpoints.join(", ")}.`, { cause: failure });
  }
}

/** The response to a write under a lease; null: the lease has ended. */
async function underLease<Answer>(written: Promise<Answer>): Promise<Answer | null> {
  try {
    return await written;
  } catch (error) {
    if (error instanceof EtcdNotFound) return null;
    throw error;
  }
}

function encode(plain: string): string {
  return Buffer.from(plain).toString("base64");
}

function decode(base64: Json): string {
  return Buffer.from(text(base64), "base64").toString();
}

function toEntry(pair: Json): Entry {
  return { key: decode(field(pair, "key")), value: decode(field(pair, "value", "")) };
}

function valueFound(response: Json): string | undefined {
  const [first = null] = list(field(response, "responses", []));
  const [pair] = list(field(field(first, "response_range", null), "kvs", []));
  return pair === undefined ? undefined : toEntry(pair).value;
}

/** Any value that JSON.parse returns. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field of an object; without `otherwise` it must exist. The gateway omits zero, false and empty values. */
export function field(value: Json, name: string, otherwise?: Json): Json {
  const found = (isObject(value) ? value[name] : undefined) ?? otherwise;
  if (found === undefined) throw new TypeError(`an answer without ${name}: ${JSON.stringify(value)}`);
  return found;
}

export function text(value: Json): string {
  if (typeof value !== "string") throw new TypeError(`a text was expected, not ${JSON.stringify(value)}`);
  return value;
}

function list(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw new TypeError(`a list was expected, not ${JSON.stringify(value)}`);
  return value;
}

/** The part of `fetch` that the client uses. */
export type Fetch = (
  url: string,
  request: { method: "POST"; body: string; signal: AbortSignal },
) => Promise<{ readonly ok: boolean; readonly status: number; text(): Promise<string> }>;

export interface EtcdRequestOptions {
  readonly fetch: Fetch;
  readonly timers: Timers;
  readonly timeoutMs: DurationMs;
}

/** The requested thing does not exist: for a write under a lease, the lease. */
class EtcdNotFound extends CarillonError {}

/** One request to one endpoint of the JSON gateway. After an error other than a CarillonError another endpoint may succeed. */
async function requestEtcd(url: string, body: object, options: EtcdRequestOptions): Promise<Json> {
  const { fetch, timers, timeoutMs } = options;
  const late = new AbortController();
  const timer = timers.setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body), signal: late.signal });
    const responseText = await answer.text();
    // A server without a leader also responds with 5xx.
    if (answer.status >= 500) throw new Error(`etcd answered ${answer.status}: ${responseText}`);
    if (!answer.ok) {
      const Refusal = answer.status === 404 ? EtcdNotFound : CarillonError;
      throw new Refusal("etcd_refused", `etcd refused ${url} (${answer.status}): ${responseText}`);
    }
    const parsed: Json = JSON.parse(responseText);
    return parsed;
  } finally {
    timers.clearTimeout(timer);
  }
}

/** The status that one endpoint reports. */
export interface EtcdStatus {
  readonly version: string;
  /** Endpoints of one cluster have the same. */
  readonly clusterId: string;
  /** false: it cannot reach the majority of its cluster, and neither reads nor writes. */
  readonly hasLeader: boolean;
}

/** Throws the error of the request. */
export async function etcdStatus(endpoint: string, options: EtcdRequestOptions): Promise<EtcdStatus> {
  const status = await requestEtcd(`${endpoint}/v3/maintenance/status`, {}, options);
  return {
    version: text(field(status, "version")),
    clusterId: text(field(field(status, "header"), "cluster_id")),
    hasLeader: text(field(status, "leader", "0")) !== "0",
  };
}
