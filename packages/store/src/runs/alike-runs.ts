import { bigintArray, intArray, jsonArray, uuidArray } from "../db/binary-arrays.js";
import { jsonParam } from "../db/params.js";
import { columns, jsonOrNull } from "../dispatch/parameters.js";
import type { NewRun } from "./new-run.js";

/** What runs of one kind share, as the statement takes it. */
interface Kind {
  readonly run: NewRun;
  readonly policy: string | null;
  readonly labels: string | null;
}

/** Runs that may start at once, as they are sent: what each has of its own, and each kind once. */
export interface AlikeRuns {
  /** Of one kind, as most are: what they share stands as single values (`run.insert_alike`), else as arrays (`run.insert_now`). */
  readonly isOneKind: boolean;
  readonly values: readonly unknown[];
}

export function alikeRuns(runs: readonly NewRun[]): AlikeRuns {
  const kinds = new Kinds();
  const numbers = runs.map((run) => kinds.numberOf(run));
  const own = [
    uuidArray(runs.map((run) => run.id)),
    intArray(runs.map((run) => run.shard)),
    bigintArray(runs.map((run) => run.rank)),
    jsonArray(runs.map((run) => jsonParam(run.payload))),
  ];
  const only = kinds.only();
  if (only !== null) return { isOneKind: true, values: [...own, ...only] };
  return { isOneKind: false, values: [...own, intArray(numbers), ...kinds.parameters()] };
}

const shared: readonly ((kind: Kind) => string | number | null)[] = [
  ({ run }) => run.namespaceId,
  ({ run }) => run.lane,
  ({ run }) => run.priority,
  ({ run }) => run.task,
  ({ run }) => run.queue,
  ({ policy }) => policy,
  ({ labels }) => labels,
  ({ run }) => run.owner,
];

class Kinds {
  readonly #kinds: Kind[] = [];
  readonly #numbers = new Map<string, number>();
  #last: { readonly run: NewRun; readonly number: number } | undefined;

  /** From 1, as PostgreSQL counts. */
  numberOf(run: NewRun): number {
    const last = this.#last;
    if (last !== undefined && isAlike(run, last.run)) return last.number;
    const policy = jsonOrNull(run.policy);
    const labels = jsonOrNull(run.labels);
    const key = `${run.namespaceId} ${run.lane} ${run.priority} ${run.task}\n${run.queue}\n${run.owner}\n${policy}\n${labels}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#kinds.push({ run, policy, labels });
      this.#numbers.set(key, number);
    }
    this.#last = { run, number };
    return number;
  }

  /** What all share; null if they are of several kinds. */
  only(): unknown[] | null {
    const [kind, ...others] = this.#kinds;
    return kind === undefined || others.length > 0 ? null : shared.map((of) => of(kind));
  }

  parameters(): string[] {
    return columns(this.#kinds, shared);
  }
}

/** By what is seen at a glance: those of one call have the same policy and labels, not only equal ones. */
function isAlike(run: NewRun, other: NewRun): boolean {
  return (
    run.policy === other.policy &&
    run.labels === other.labels &&
    run.lane === other.lane &&
    run.priority === other.priority &&
    run.task === other.task &&
    run.queue === other.queue &&
    run.owner === other.owner &&
    run.namespaceId === other.namespaceId
  );
}
