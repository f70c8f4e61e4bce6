import { jsonParam } from "../db/params.js";
import { columns, jsonOrNull } from "./parameters.js";
import type { NewRun } from "./new-run.js";

/** What runs of one kind share, as the statement takes it. */
interface Kind {
  readonly run: NewRun;
  readonly policy: string | null;
  readonly labels: string | null;
}

/** JSON escapes control characters, so none stands in a payload's text. */
const separator = "\u001f";

/** Runs that may start at once, as `run.insert_now` takes them: what each has of its own, and each kind once. */
export function alikeParameters(runs: readonly NewRun[]): unknown[] {
  const kinds = new Kinds();
  const ids: string[] = [];
  const shards: number[] = [];
  const ranks: number[] = [];
  const numbers: number[] = [];
  const payloads: string[] = [];
  for (const run of runs) {
    ids.push(run.id);
    shards.push(run.shard);
    ranks.push(run.rank);
    numbers.push(kinds.numberOf(run));
    payloads.push(jsonParam(run.payload));
  }
  const own = [ids, shards, ranks, numbers].map((column) => `{${column.join(",")}}`);
  return [...own, payloads.join(separator), ...kinds.parameters()];
}

class Kinds {
  readonly #kinds: Kind[] = [];
  readonly #numbers = new Map<string, number>();

  /** From 1, as PostgreSQL counts. */
  numberOf(run: NewRun): number {
    const policy = jsonOrNull(run.policy);
    const labels = jsonOrNull(run.labels);
    const key = `${run.namespaceId} ${run.lane} ${run.priority} ${run.task}\n${run.queue}\n${run.owner}\n${policy}\n${labels}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#kinds.push({ run, policy, labels });
      this.#numbers.set(key, number);
    }
    return number;
  }

  parameters(): string[] {
    return columns(this.#kinds, [
      ({ run }) => run.namespaceId,
      ({ run }) => run.lane,
      ({ run }) => run.priority,
      ({ run }) => run.task,
      ({ run }) => run.queue,
      ({ policy }) => policy,
      ({ labels }) => labels,
      ({ run }) => run.owner,
    ]);
  }
}
