import { type ClaimStore, type NewRun, type SlotOffer, toRunBatch } from "@carillon/store";
import { DirectChannel } from "../../src/dispatch/direct/direct-channel.js";
import type { Gateway } from "../../src/dispatch/gateway.js";
import type { Assigned } from "../../src/dispatch/sessions/worker-registration.js";
import { DirectInsert, SlotOffers } from "../../src/enqueue/direct-insert.js";
import { gatewayOver } from "./gateway-harness.js";
import { newRun, type StoreHarness, storeHarness } from "./store-harness.js";

/** Resolves when the test opens it. */
export function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

export const success = ({ runId, fence }: Pick<Assigned, "runId" | "fence">) =>
  ({ runId, fence, startedAgoMs: 0, outcome: { kind: "succeeded", outputJson: "null" } }) as const;

export const timesOf = (assigned: readonly Assigned[], id: string): number =>
  assigned.filter((one) => one.runId === id).length;

/** One end of the direct channel, whose messages arrive when the test says so. */
class TestChannel {
  readonly offers = new SlotOffers(() => 0);
  readonly channel: DirectChannel;
  #receive: (text: string) => void = () => undefined;

  constructor() {
    const listen = (_channel: string, receive: (text: string) => void) => {
      this.#receive = receive;
      return { stop: async () => undefined };
    };
    const loopFailed = (_loop: string, error: unknown): void => {
      throw error;
    };
    this.channel = new DirectChannel({ db: { listen, notify: () => undefined }, loopFailed }, this.offers);
  }

  readonly receive = (text: string): void => this.#receive(text);
}

/** A gateway with a worker of ten slots, of which it offered some. It scans when the test says so. */
export interface ServedNode extends TestChannel {
  readonly gateway: Gateway;
  readonly session: string;
  readonly assigned: Assigned[];
  readonly offered: SlotOffer;
  /** The answer to a claim is lost: the worker has to be verified. Returns the run that was claimed. */
  loseClaim(): Promise<string>;
}

/** Runs that are stored for the worker of a gateway, and the notices of them. */
export class DirectNoticeHarness {
  readonly h: StoreHarness;
  /** Each test has a queue of its own. */
  queue = "";
  /** How far the gateway's own clock is ahead. */
  passedMs = 0;
  /** The last rescue of the gateway. */
  rescued: Promise<unknown> = Promise.resolve();
  /** The gateway's reads of runs that it got a notice of. */
  reads: Promise<unknown>[] = [];
  readonly #secret: Buffer;
  readonly #gateways: Gateway[] = [];
  #queues = 0;
  #lane = 0;

  private constructor(h: StoreHarness, secret: Buffer) {
    this.h = h;
    this.#secret = secret;
  }

  static async create(): Promise<DirectNoticeHarness> {
    const h = await storeHarness();
    return new DirectNoticeHarness(h, await h.store.secrets.find("direct_dispatch"));
  }

  stopGateways(): void {
    for (const gateway of this.#gateways.splice(0)) gateway.stop();
  }

  close(): Promise<void> {
    return this.h.close();
  }

  async serve(claims: Partial<ClaimStore> = {}): Promise<ServedNode> {
    const { store } = this.h;
    this.queue = `q${++this.#queues}`;
    [this.#lane = 0] = await store.lanes.ensure([{ queue: this.queue, task: "echo" }]);
    [this.passedMs, this.reads] = [0, []];
    const sent: SlotOffer[] = [];
    const assigned: Assigned[] = [];
    const end = new TestChannel();
    let isLost = false;
    const { gateway } = gatewayOver(this.h, {
      store: {
        claims: {
          ...store.claims,
          async completeAndClaim(...args) {
            const answer = await store.claims.completeAndClaim(...args);
            if (!isLost || answer.claimed.length === 0) return answer;
            isLost = false;
            throw new Error("the connection was reset");
          },
          ...claims,
        },
        runs: { ...store.runs, rescue: (...args) => this.#track(store.runs.rescue(...args)) },
        directRuns: {
          ...store.directRuns,
          read: (...args) => {
            const reading = store.directRuns.read(...args);
            this.reads.push(reading);
            return reading;
          },
        },
      },
      clock: { monotonic: () => performance.now() + this.passedMs },
      wakeups: { runsQueued: (runs) => gateway.hint(runs) },
      loopFailed: () => undefined,
      channel: {
        address: null,
        sendOffer: (_to, offer) => void sent.push(offer),
        serve: (served) => end.channel.serve(served),
      },
    });
    end.channel.start(this.#secret);
    this.#gateways.push(gateway);
    const session = await gateway.open({
      namespace: "default",
      name: "w",
      queues: [this.queue],
      tasks: ["echo"],
      slots: 10,
      nodeId: null,
      onAssign: (runs) => void assigned.push(...runs),
      onStop: () => undefined,
      onLost: () => undefined,
    });
    gateway.resume(session);
    // A run that is claimed before its hint arrives leads to no offer: the next one does.
    while (sent.length === 0) {
      const run = this.#run();
      await store.runs.insert([run]);
      gateway.hint([run], "me");
      await until(() => assigned.length > 0);
      await gateway.complete(session, assigned.splice(0).map(success));
    }
    const [offered] = sent;
    if (offered === undefined) throw new Error("no slot was offered");
    const loseClaim = async (): Promise<string> => {
      // After this scan, the next ones verify the worker and find nothing else.
      await gateway.scan();
      isLost = true;
      const run = this.#run();
      await store.runs.insert([run]);
      gateway.hint([run]);
      await until(() => !isLost);
      return run.id;
    };
    return Object.assign(end, { gateway, session, assigned, offered, loseClaim });
  }

  async rowOf(id: string): Promise<unknown> {
    const text = "select state, fence::int, session_id as session, attempt::int from carillon.run where id = $1";
    return (await this.h.db.query({ text }, [id])).rows[0];
  }

  async isEnded(id: string): Promise<boolean> {
    return (await this.h.store.reads.finished(1, [id], 0)).length === 1;
  }

  /** Resolves when every read so far was followed. */
  async readsFollowed(): Promise<void> {
    await Promise.all(this.reads);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Stores a run for the worker as another node does, and returns the notice that is on its way to the gateway. */
  async store(offered: SlotOffer, number = 1) {
    const run = this.#run();
    const noNotices = { toGateway: null, ifQueued: null };
    const { at, fence } = await this.h.store.directRuns.insert(toRunBatch([run]), offered, noNotices);
    if (fence === null) throw new Error("the run was queued");
    const { channel } = new TestChannel();
    channel.serve({ id: "me", arrivals: undefined as never });
    channel.start(this.#secret);
    const encrypted = channel.noticeFor(offered, number, [run])?.payload ?? "";
    return { id: run.id, at, encrypted, notice: `runs ${at} ${fence} ${encrypted}` };
  }

  /** Stores a run as the gateway's own node does. `answer`: the outcome of the statement once it is committed. */
  storeHere({ channel, offers }: ServedNode, offered: SlotOffer, answer: () => Promise<void>) {
    channel.sendOffer(offered.gatewayId, offered);
    const { store } = this.h;
    const inserter = new DirectInsert({
      store: {
        async insert(...args) {
          const stored = await store.directRuns.insert(...args);
          await answer();
          return stored;
        },
      },
      offers,
      channel,
      queuedNoticeFor: () => null,
    });
    const run = this.#run();
    return { id: run.id, stored: inserter.insert([run]) };
  }

  #run(): NewRun {
    return newRun(this.#lane, { queue: this.queue });
  }

  #track<Result>(rescue: Promise<Result>): Promise<Result> {
    this.rescued = rescue;
    return rescue;
  }
}
