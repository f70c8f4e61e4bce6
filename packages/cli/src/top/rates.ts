/** What is counted, by the kind of event that says it. */
export const counted = {
  "run.fired": "fired",
  "run.started": "started",
  "run.succeeded": "succeeded",
  "run.failed": "failed",
  "run.retrying": "retried",
} as const;

export type RateName = (typeof counted)[keyof typeof counted];
export type Rates = Readonly<Record<RateName, number>>;

const windowS = 10;
const names = Object.values(counted);

/** Events per second over the last ten seconds, for everything and for each queue. */
export class RateMeter {
  readonly #begun: number;
  readonly #all: Buckets = new Map();
  readonly #queues = new Map<string, Buckets>();

  constructor(now: number) {
    this.#begun = now;
  }

  add(name: RateName, queue: string | undefined, now: number): void {
    const second = Math.floor(now / 1_000);
    count(this.#all, name, second);
    if (queue === undefined) return;
    const own = this.#queues.get(queue) ?? new Map();
    this.#queues.set(queue, own);
    count(own, name, second);
  }

  rates(now: number, queue?: string): Rates {
    const buckets = queue === undefined ? this.#all : (this.#queues.get(queue) ?? new Map());
    const spanS = Math.min(windowS, Math.max(1, (now - this.#begun) / 1_000));
    const second = Math.floor(now / 1_000);
    const rateOf = (name: RateName): number => {
      let sum = 0;
      for (const [at, counts] of buckets) if (at > second - windowS) sum += counts[name] ?? 0;
      return Math.round((sum / spanS) * 10) / 10;
    };
    return Object.fromEntries(names.map((name) => [name, rateOf(name)])) as Record<RateName, number>;
  }
}

type Buckets = Map<number, Partial<Record<RateName, number>>>;

/** Seconds that no window reaches any more go. */
function count(buckets: Buckets, name: RateName, second: number): void {
  const bucket = buckets.get(second) ?? {};
  bucket[name] = (bucket[name] ?? 0) + 1;
  buckets.set(second, bucket);
  for (const at of buckets.keys()) if (at < second - windowS) buckets.delete(at);
}
