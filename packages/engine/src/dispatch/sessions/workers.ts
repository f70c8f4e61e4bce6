import type { SessionStore, WorkerState, WorkerView } from "@carillon/store";
import { afterCommit } from "../../after-commit.js";
import type { EngineContext } from "../../context.js";
import type { Page, PageRequest } from "../../requests.js";
import type { ServedSessions } from "./served-sessions.js";
import { TaskServers } from "./task-servers.js";
import type { RunToServe, Unserved } from "./why-unserved.js";

type WorkersContext = Pick<EngineContext, "clock" | "inNamespace"> & {
  readonly store: { readonly sessions: SessionStore };
};

/** Workers as operators see them: those that live, or died a moment ago. */
export class Workers {
  readonly #context: WorkersContext;
  readonly #sessions: Pick<ServedSessions, "requestState">;
  readonly #servers: TaskServers;

  constructor(context: WorkersContext, sessions: Pick<ServedSessions, "requestState">) {
    this.#context = context;
    this.#sessions = sessions;
    this.#servers = new TaskServers(context.store.sessions, context.clock);
  }

  list(namespace: string, { pageSize, after }: PageRequest): Promise<Page<WorkerView>> {
    return this.#context.inNamespace(namespace, async (id) => {
      const page = { limit: pageSize + 1, ...(after !== undefined && { before: after }) };
      const found = await this.#context.store.sessions.views(id, page);
      const rows = found.slice(0, pageSize);
      return { rows, next: found.length > pageSize ? (rows.at(-1)?.id ?? null) : null };
    });
  }

  get(namespace: string, workerId: string): Promise<WorkerView | null> {
    return this.#context.inNamespace(namespace, (id) => this.#view(id, workerId));
  }

  /** Null: there is no such worker. Its node applies the state at once if it is this one, else with the next heartbeat. */
  requestState(namespace: string, workerId: string, state: WorkerState): Promise<WorkerView | null> {
    return this.#context.inNamespace(namespace, async (id) => {
      if (!(await this.#context.store.sessions.ask(id, workerId, state))) return null;
      await this.#sessions.requestState(workerId, state);
      return afterCommit(() => this.#view(id, workerId));
    });
  }

  /** Null: some live worker can take such runs, or could some seconds ago. */
  whyUnserved(namespace: string, run: RunToServe): Promise<Unserved | null> {
    return this.#context.inNamespace(namespace, (id) => this.#servers.whyUnserved(id, run));
  }

  async #view(namespaceId: number, id: string): Promise<WorkerView | null> {
    return (await this.#context.store.sessions.views(namespaceId, { id, limit: 1 }))[0] ?? null;
  }
}
