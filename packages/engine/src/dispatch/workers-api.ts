import type { Store } from "@carillon/store";
import type { InNamespace } from "../context.js";
import type { Gateway } from "./gateway.js";
import { whyUnserved } from "./why-unserved.js";
import type { Workers } from "./sessions/workers.js";

export function workersApi(
  { sessions }: Pick<Store, "sessions">,
  within: InNamespace,
  gateway: Pick<Gateway, "ask">,
): Workers {
  return {
    listWorkers: (namespace, { pageSize, after }) =>
      within(namespace, async (id) => {
        const of = { limit: pageSize + 1, ...(after !== undefined && { before: after }) };
        const found = await sessions.views(id, of);
        const rows = found.slice(0, pageSize);
        return { rows, next: found.length > pageSize ? (rows.at(-1)?.id ?? null) : null };
      }),
    getWorker: (namespace, workerId) =>
      within(namespace, async (id) => (await sessions.views(id, { id: workerId, limit: 1 }))[0] ?? null),
    askWorker: (namespace, workerId, state) =>
      within(namespace, async (id) => {
        if (!(await sessions.ask(id, workerId, state))) return null;
        await gateway.ask(workerId, state);
        return (await sessions.views(id, { id: workerId, limit: 1 }))[0] ?? null;
      }),
    whyUnserved: (namespace, run) =>
      within(namespace, async (id) => whyUnserved(run, await sessions.kinds(id, run.task))),
  };
}
