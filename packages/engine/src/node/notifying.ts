import type { DurationMs, Instant } from "@carillon/core";
import { RunLister } from "../runs/run-lister.js";
import { RunReader } from "../runs/run-reader.js";
import type { Webhooks } from "../webhooks/webhooks.js";
import type { ClaimedRun, Database, Queued } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";
import { Notifier } from "../webhooks/notifier.js";
import { SystemRuns } from "../webhooks/system-runs.js";
import { Teller } from "../webhooks/teller.js";
import { WebhookBook } from "../webhooks/webhook-cache.js";
import { webhooksApi } from "../webhooks/webhooks-api.js";
import { withinNamespace } from "./engine-api.js";

export interface NotifyingOptions {
  readonly db: Database;
  readonly store: EngineStore;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly newId: () => string;
  readonly shards: number;
  readonly batch: number;
  /** An endpoint made elsewhere counts after at most this time. */
  readonly periodMs: DurationMs;
  readonly mostFailingMs: DurationMs;
  readonly onQueued: (queued: readonly Queued[]) => void;
}

export interface Notifying {
  readonly teller: Teller;
  readonly api: Webhooks;
  /** Whether somebody is to be told that a run succeeded. */
  readonly isToldOf: (run: ClaimedRun) => boolean;
  /** Passes of loops; each answers after how long the next is due. */
  readonly look: () => Promise<DurationMs>;
  readonly notify: () => Promise<DurationMs>;
}

/** The parts that tell others of the ends of runs, put together. */
export function makeNotifying(options: NotifyingOptions): Notifying {
  const { db, store, now, newId, shards, batch, periodMs, mostFailingMs, onQueued } = options;
  const { webhooks, lanes, queueBook: queues, rank, runsOver, readsOver, namespaces } = store;
  const transaction = <Result>(work: Parameters<typeof db.transaction<Result>>[0]): Promise<Result> =>
    db.transaction(work);
  const systemRuns = new SystemRuns({
    runsOver,
    lanes,
    queues,
    rank,
    now,
    shards,
    onQueued,
  });
  const runs = new RunReader(store.reads);
  const book = new WebhookBook(db, webhooks);
  const notifier = new Notifier({ webhooks, readsOver, transaction, runs: systemRuns, newId, batch });
  return {
    teller: new Teller({ transaction, failures: store.failures, runs: systemRuns, newId }),
    isToldOf: (run) => book.isToldOf(run),
    async look() {
      await book.look();
      return periodMs;
    },
    notify: () => notifier.tick(),
    api: webhooksApi({
      webhooks,
      secrets: store.callbackSecrets,
      runs,
      lister: new RunLister(store.search, runs),
      systemRuns,
      transaction,
      within: withinNamespace(namespaces),
      newId,
      now,
      mostFailingMs,
      onChanged: () => book.look(),
    }),
  };
}
