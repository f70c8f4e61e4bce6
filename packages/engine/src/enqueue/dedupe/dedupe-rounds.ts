import { CarillonError } from "@carillon/core";
import type { DedupeAnswer, DedupedRun, StoredRun } from "@carillon/store";

/** stored: the run is new; `stored` is null if an earlier try stored it. held: another run has the key. */
export type DedupeOutcome =
  | { readonly kind: "stored"; readonly stored: StoredRun | null }
  | { readonly kind: "held"; readonly runId: string };

/** A run loses a round when another caller's run takes the key in between. Losing this often is no coincidence. */
const maxRounds = 100;

/**
 * Stores a batch in which several runs may have the same key, in the batch's order. In each round the first run of each key goes to the
 * database. The runs behind it that do not replace it get its outcome; the others, and those that lost the key to another caller, follow in the next round.
 */
export async function storeInRounds(
  batch: readonly DedupedRun[],
  write: (runs: readonly DedupedRun[]) => Promise<readonly DedupeAnswer[]>,
): Promise<DedupeOutcome[]> {
  const outcomes = new Map<DedupedRun, DedupeOutcome>();
  let waiting = batch;
  for (let round = 0; waiting.length > 0; round++) {
    if (round === maxRounds + batch.length) {
      throw new CarillonError("overloaded", "Too many callers enqueue runs with the same dedupe key at once.");
    }
    const byKey = new Map<string, DedupedRun[]>();
    for (const one of waiting) byKey.set(identityOf(one), [...(byKey.get(identityOf(one)) ?? []), one]);
    const firsts = [...byKey.values()].flatMap((group) => group.slice(0, 1));
    const answers = new Map((await write(firsts)).map((answer) => [answer.id, answer]));
    for (const [first, ...others] of byKey.values()) {
      const answer = first && answers.get(first.run.id);
      if (first === undefined || answer === undefined)
        throw new Error("The insert of a run with a dedupe key returned no outcome.");
      if (answer.state === "beaten") continue;
      outcomes.set(first, outcomeOf(answer));
      const runId = answer.state === "held" ? answer.heldId : answer.id;
      for (const other of others.slice(0, others.findIndex(replaces) + 1 || undefined)) {
        if (!replaces(other)) outcomes.set(other, { kind: "held", runId });
      }
    }
    waiting = waiting.filter((one) => !outcomes.has(one));
  }
  return batch.flatMap((one) => outcomes.get(one) ?? []);
}

function replaces({ dedupe }: DedupedRun): boolean {
  return dedupe.on === "replace";
}

/** If the key already names this very run, an earlier try stored it and its answer was lost. */
function outcomeOf(answer: Exclude<DedupeAnswer, { state: "beaten" }>): DedupeOutcome {
  if (answer.state !== "held") return { kind: "stored", stored: answer };
  return answer.heldId === answer.id ? { kind: "stored", stored: null } : { kind: "held", runId: answer.heldId };
}

function identityOf({ run, dedupe }: DedupedRun): string {
  return `${run.namespaceId}\n${run.task}\n${dedupe.key}`;
}
