import { CarillonError } from "@carillon/core";
import type { Gateway } from "../dispatch/gateway.js";
import { whyUnserved } from "../dispatch/why-unserved.js";
import type { Workers } from "../dispatch/sessions/workers.js";
import type { EngineStore } from "./engine-store.js";

export function workersApi({ sessions, namespaces }: EngineStore, gateway: Pick<Gateway, "ask">): Workers {
  const within = async (name: string): Promise<number> => {
    const id = await namespaces.find(name);
    if (id === null) throw new CarillonError("not_found", `there is no namespace ${JSON.stringify(name)}`);
    return id;
  };
  return {
    async listWorkers(namespace, { pageSize, after }) {
      const of = { limit: pageSize + 1, ...(after !== undefined && { before: after }) };
      const found = await sessions.views(await within(namespace), of);
      const rows = found.slice(0, pageSize);
      return { rows, next: found.length > pageSize ? (rows.at(-1)?.id ?? null) : null };
    },
    async getWorker(namespace, id) {
      return (await sessions.views(await within(namespace), { id, limit: 1 }))[0] ?? null;
    },
    async askWorker(namespace, id, state) {
      const namespaceId = await within(namespace);
      if (!(await sessions.ask(namespaceId, id, state))) return null;
      await gateway.ask(id, state);
      return (await sessions.views(namespaceId, { id, limit: 1 }))[0] ?? null;
    },
    async whyUnserved(namespace, run) {
      return whyUnserved(run, await sessions.kinds(await within(namespace), run.task));
    },
  };
}
