import { CarillonError, type DurationMs } from "@carillon/core";
import { askEtcd, EtcdNotFound, type EtcdRequestOptions } from "./etcd-request.js";
import { field, type Json, list, text } from "./json.js";

export interface EtcdClientOptions extends EtcdRequestOptions {
  /** Such as http://127.0.0.1:2379; tried in turn. */
  readonly endpoints: readonly string[];
}

export interface Entry {
  readonly key: string;
  readonly value: string;
}

/** etcd takes at most 128 operations in one transaction, those inside of others included, unless it was told otherwise. */
const mostOperations = 100;

/** etcd 3.4 or newer, over the JSON gateway that is part of the server. */
export class EtcdClient {
  readonly #options: EtcdClientOptions;
  #turn = 0;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
  }

  /** A lease that ends by itself unless it is kept alive; answers its id. */
  async grant(ttlMs: DurationMs): Promise<string> {
    return text(field(await this.#call("lease/grant", { TTL: String(Math.ceil(ttlMs / 1_000)) }), "ID"));
  }

  /** false: the lease has ended. */
  async keepAlive(lease: string): Promise<boolean> {
    const result = field(await this.#call("lease/keepalive", { ID: lease }), "result");
    return Number(text(field(result, "TTL", "0"))) > 0;
  }

  /** Ends a lease; what was put under it goes with it. One that has ended already is no error. */
  async revoke(lease: string): Promise<void> {
    if (await this.keepAlive(lease)) await this.#call("lease/revoke", { ID: lease });
  }

  /** false: the lease has ended. */
  async put({ key, value }: Entry, lease: string): Promise<boolean> {
    return (await underLease(this.#call("kv/put", { key: encode(key), value: encode(value), lease }))) !== null;
  }

  /** Every entry whose key begins so. */
  async under(prefix: string): Promise<Entry[]> {
    const end = Buffer.from(prefix);
    end[end.length - 1] = (end[end.length - 1] ?? 0) + 1;
    const found = await this.#call("kv/range", { key: encode(prefix), range_end: end.toString("base64") });
    return list(field(found, "kvs", [])).map(toEntry);
  }

  /**
   * Makes the entries that do not exist; answers those that now have the value given, whoever put it there. None of them once
   * the lease has ended: what was made goes with it.
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

  /** Removes the entries that still have the value given. */
  async remove(entries: readonly Entry[]): Promise<void> {
    await this.#each(entries, ({ key, value }) => ({
      compare: [{ target: "VALUE", key: encode(key), value: encode(value) }],
      success: [{ request_delete_range: { key: encode(key) } }],
    }));
  }

  /** A small transaction for each entry, as many in one request as etcd takes; answers their responses in order. */
  async #each(entries: readonly Entry[], transaction: (entry: Entry) => object): Promise<Json[]> {
    const responses: Json[] = [];
    for (let at = 0; at < entries.length; at += mostOperations) {
      const some = entries.slice(at, at + mostOperations);
      const answer = await this.#call("kv/txn", {
        success: some.map((entry) => ({ request_txn: transaction(entry) })),
      });
      responses.push(...list(field(answer, "responses")).map((response) => field(response, "response_txn")));
    }
    return responses;
  }

  /** Each endpoint once, beginning with the one that answered last. */
  async #call(path: string, body: object): Promise<Json> {
    const { endpoints } = this.#options;
    let failure: unknown;
    for (let tried = 0; tried < endpoints.length; tried++) {
      try {
        const endpoint = endpoints[this.#turn % endpoints.length] ?? "";
        return await askEtcd(`${endpoint}/v3/${path}`, body, this.#options);
      } catch (error) {
        if (error instanceof CarillonError) throw error;
        failure = error;
        this.#turn++;
      }
    }
    throw new CarillonError("etcd_unavailable", `etcd does not answer at ${endpoints.join(", ")}.`, { cause: failure });
  }
}

/** What a write under a lease answers; null: the lease has ended. */
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
