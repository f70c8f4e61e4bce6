import { CarillonError } from "@carillon/core";
import type { DedupeAnswer, DedupedRun, StoredRun } from "@carillon/store";

/** stored: it is new; null where that is known only from its key. held: this other run counts. */
export type DedupeOutcome =
  | { readonly kind: "stored"; readonly stored: StoredRun | null }
  | { readonly kind: "held"; readonly runId: string };

/** Each time somebody else's run took the key in the meantime. Nobody loses so often by chance. */
const mostRounds = 100;

/**
 * Stores a batch in which a key may stand several times, in its order: the first of each key goes to the database; those behind it
 * that do not replace it have their answer then, the others follow in the next round, as do those that somebody else beat.
 */
export async function storeInRounds(
  batch: readonly DedupedRun[],
  write: (runs: readonly DedupedRun[]) => Promise<readonly DedupeAnswer[]>,
): Promise<DedupeOutcome[]> {
  const outcomes = new Map<DedupedRun, DedupeOutcome>();
  let waiting = batch;
  for (let round = 0; waiting.length > 0; round++) {
    if (round === mostRounds + batch.length) {
      throw new CarillonError("overloaded", "Too many callers ask for runs with the same dedupe key at once.");
    }
    const byKey = new Map<string, DedupedRun[]>();
    for (const one of waiting) byKey.set(identityOf(one), [...(byKey.get(identityOf(one)) ?? []), one]);
    const firsts = [...byKey.values()].flatMap((group) => group.slice(0, 1));
    const answers = new Map((await write(firsts)).map((answer) => [answer.id, answer]));
    for (const [first, ...others] of byKey.values()) {
      const answer = first && answers.get(first.run.id);
      if (first === undefined || answer === undefined) throw new Error("a run with a dedupe key has no answer");
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

/** A run that its own key names was stored before, by a try whose answer got lost. */
function outcomeOf(answer: Exclude<DedupeAnswer, { state: "beaten" }>): DedupeOutcome {
  if (answer.state !== "held") return { kind: "stored", stored: answer };
  return answer.heldId === answer.id ? { kind: "stored", stored: null } : { kind: "held", runId: answer.heldId };
}

function identityOf({ run, dedupe }: DedupedRun): string {
  return `${run.namespaceId}\n${run.task}\n${dedupe.key}`;
}
