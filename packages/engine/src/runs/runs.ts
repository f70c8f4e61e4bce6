import type { Instant } from "@carillon/core";
import type { RunFilter } from "@carillon/store";
import type { RankRun } from "../catalog/rank-run.js";
import type { EngineContext } from "../context.js";
import type { Page, PageRequest, Total, TotalRequest, WaitRequest } from "../requests.js";
import { Expirer } from "./expirer.js";
import { RunChanger } from "./run-changer.js";
import { RunLister, searchByLabels } from "./run-lister.js";
import { type LogPage, LogReader, type LogRequest } from "./run-logs.js";
import { RunReader, type RunView } from "./run-reader.js";
import { RunWaiters } from "./run-waiters.js";

type RunsContext = Pick<
  EngineContext,
  "store" | "limits" | "clock" | "timers" | "inNamespace" | "emit" | "events" | "loops" | "wakeups"
>;

/** The runs of a namespace, live and finished. */
export class Runs {
  /** The parts that other components use. They take the id of a namespace. */
  readonly reader: RunReader;
  readonly lister: RunLister;
  readonly changer: RunChanger;
  readonly #context: RunsContext;
  readonly #waiters: RunWaiters;
  readonly #logs: LogReader;

  constructor(context: RunsContext, { rank }: { readonly rank: RankRun }) {
    this.#context = context;
    this.reader = new RunReader(context.store.reads);
    this.lister = new RunLister(context.store.search, this.reader);
    this.changer = new RunChanger(context, { runs: this.reader, rank });
    this.#waiters = new RunWaiters(context, this.reader);
    this.#logs = new LogReader(context, this.reader);
    new Expirer(context);
  }

  get(namespace: string, id: string): Promise<RunView | null> {
    return this.#context.inNamespace(namespace, (namespaceId) => this.reader.find(namespaceId, id));
  }

  /** The run when it has ended; null when it has not in time, or does not exist. Throws overloaded. */
  wait(namespace: string, id: string, request: WaitRequest): Promise<RunView | null> {
    return this.#context.inNamespace(namespace, (namespaceId) => this.#waiters.wait(namespaceId, id, request));
  }

  /** Throws path_not_searchable. */
  list(namespace: string, filter: RunFilter, page: PageRequest): Promise<Page<RunView>> {
    const { inNamespace, store } = this.#context;
    return inNamespace(namespace, async (namespaceId) =>
      this.lister.list(namespaceId, await searchByLabels(filter, namespaceId, store.searchPaths), page),
    );
  }

  /** Throws path_not_searchable. */
  total(namespace: string, filter: RunFilter, request: TotalRequest): Promise<Total> {
    const { inNamespace, store } = this.#context;
    return inNamespace(namespace, async (namespaceId) =>
      this.lister.total(namespaceId, await searchByLabels(filter, namespaceId, store.searchPaths), request),
    );
  }

  /** Ends a run that waits, asks the worker of one that runs to stop it, and returns one that has ended as it is. Throws not_found. */
  cancel(namespace: string, id: string): Promise<RunView> {
    return this.#context.inNamespace(namespace, (namespaceId) => this.changer.cancel(namespaceId, id));
  }

  /** Throws not_found; run_not_waiting when it runs, has ended, or waits for anything but its time or a worker. */
  reschedule(namespace: string, id: string, runAt: Instant): Promise<RunView> {
    return this.#context.inNamespace(namespace, (namespaceId) => this.changer.reschedule(namespaceId, id, runAt));
  }

  /** null: there is no such run. */
  logs(namespace: string, id: string, request: LogRequest): Promise<LogPage | null> {
    return this.#context.inNamespace(namespace, (namespaceId) => this.#logs.read(namespaceId, id, request));
  }

  /** Answers every caller that waits for the end of a run. */
  stop(): void {
    this.#waiters.stop();
  }
}
