import { jsonParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** A task as nodes cache it. */
export interface KnownTask {
  readonly namespace: string;
  readonly namespaceId: number;
  readonly name: string;
  readonly defaults: TaskDefaults;
  readonly revision: number;
}

export interface TaskStore {
  newer(revision: number): Promise<KnownTask[]>;
  /** Returns those whose defaults changed. */
  register(namespaceIds: readonly number[], defaults: Readonly<Record<string, TaskDefaults>>): Promise<KnownTask[]>;
}

type Row = Omit<KnownTask, "namespaceId"> & { readonly namespace_id: number };

export function taskStore(db: Queryable, statements: Statements): TaskStore {
  const [newer, register] = [statements.get("task.newer"), statements.get("task.register")];
  return {
    newer: async (revision) => (await db.query<Row>(newer, newer.values({ revision }))).rows.map(toKnown),
    async register(namespaceIds, defaults) {
      const texts = Object.values(defaults).map(jsonParam);
      const values = register.values({ namespaceIds, names: Object.keys(defaults), defaults: texts });
      return (await db.query<Row>(register, values)).rows.map(toKnown);
    },
  };
}

function toKnown({ namespace_id: namespaceId, ...row }: Row): KnownTask {
  return { namespaceId, ...row };
}

/**
 * Defaults that a task's workers declare for its runs: fields of a request for a run, as the API names them. They are stored unread; the
 * reader of requests interprets them.
 */
export type TaskDefaults = Readonly<Record<string, unknown>>;
