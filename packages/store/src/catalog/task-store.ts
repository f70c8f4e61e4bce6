import { jsonParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** A task as nodes keep it in mind. */
export interface KnownTask {
  readonly namespace: string;
  readonly namespaceId: number;
  readonly name: string;
  readonly defaults: TaskDefaults;
  readonly revision: number;
}

export interface TaskStore {
  newer(revision: number): Promise<KnownTask[]>;
  /** Answers those that are other than before. */
  register(namespaceIds: readonly number[], defaults: Readonly<Record<string, TaskDefaults>>): Promise<KnownTask[]>;
}

type Row = Omit<KnownTask, "namespaceId"> & { readonly namespace_id: number };

export function taskStore(db: Queryable, statements: Statements): TaskStore {
  const [newer, register] = [statements.get("task.newer"), statements.get("task.register")];
  return {
    newer: async (revision) => (await db.query<Row>(newer, [revision])).rows.map(toKnown),
    async register(namespaceIds, defaults) {
      const values = [namespaceIds, Object.keys(defaults), Object.values(defaults).map(jsonParam)];
      return (await db.query<Row>(register, values)).rows.map(toKnown);
    },
  };
}

function toKnown({ namespace_id: namespaceId, ...row }: Row): KnownTask {
  return { namespaceId, ...row };
}

/**
 * What a task's workers say about runs of it: fields of a request for a run, in the words of the wire. Whoever reads requests knows what
 * they mean; here they are kept as they came.
 */
export type TaskDefaults = Readonly<Record<string, unknown>>;
