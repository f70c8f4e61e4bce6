import type { Fetch } from "../../src/cluster/etcd/etcd-client.js";

interface Put {
  readonly key: string;
  readonly value: string;
  readonly lease: string;
}

interface Range {
  readonly key: string;
  readonly range_end?: string;
}

interface EtcdRequest {
  readonly request_put?: Put;
  readonly request_range?: Range;
  readonly request_txn?: Transaction;
}

interface Transaction {
  readonly compare?: readonly { readonly key: string }[];
  readonly success?: readonly EtcdRequest[];
  readonly failure?: readonly EtcdRequest[];
}

class LeaseNotFound extends Error {}

/** The requests of etcd's JSON gateway that a node needs to join and to take shards. A test ends the leases. */
export class MemoryEtcd {
  /** Called before each request with its path. */
  before: (path: string) => void = () => undefined;
  /** The paths of all requests, in their order. */
  readonly paths: string[] = [];
  readonly #leases = new Set<string>();
  #entries = new Map<string, Put>();
  #granted = 0;

  endLeases(): void {
    this.#leases.clear();
    this.#entries.clear();
  }

  readonly fetch: Fetch = async (url, { body }) => {
    const path = url.slice(url.indexOf("/v3/") + 4);
    this.paths.push(path);
    this.before(path);
    try {
      return answer(200, this.#do(path, JSON.parse(body)));
    } catch (error) {
      if (!(error instanceof LeaseNotFound)) throw error;
      return answer(404, { code: 5, message: "etcdserver: requested lease not found" });
    }
  };

  #do(path: string, body: Put & Range & Transaction & { ID: string }): object {
    if (path === "lease/grant") {
      const lease = String(++this.#granted);
      this.#leases.add(lease);
      return { ID: lease };
    }
    if (path === "lease/keepalive") return { result: this.#leases.has(body.ID) ? { TTL: "5" } : {} };
    if (path === "kv/put") return this.#put(body);
    if (path === "kv/range") return this.#range(body);
    if (path === "kv/txn") return this.#transaction(body);
    throw new Error(`not simulated: ${path}`);
  }

  #put(put: Put): object {
    if (!this.#leases.has(put.lease)) throw new LeaseNotFound();
    this.#entries.set(put.key, put);
    return {};
  }

  #range({ key, range_end: end }: Range): object {
    const isIn = (one: string): boolean =>
      end === undefined ? one === key : plain(one) >= plain(key) && plain(one) < plain(end);
    return { kvs: [...this.#entries.values()].filter((entry) => isIn(entry.key)) };
  }

  /** Every comparison checks that a key does not exist. */
  #transaction({ compare = [], success = [], failure = [] }: Transaction): object {
    const succeeded = compare.every(({ key }) => !this.#entries.has(key));
    const responses = (succeeded ? success : failure).map((request) => {
      if (request.request_put !== undefined) return { response_put: this.#put(request.request_put) };
      if (request.request_txn !== undefined) return { response_txn: this.#transaction(request.request_txn) };
      return { response_range: request.request_range === undefined ? {} : this.#range(request.request_range) };
    });
    return { succeeded, responses };
  }
}

const plain = (base64: string): string => Buffer.from(base64, "base64").toString();

const answer = (status: number, body: object) => ({
  ok: status < 400,
  status,
  text: async () => JSON.stringify(body),
});
