/** A change to one statement of packages/engine/sql: each text must be found there, or the mutant is stale. */
export interface Mutant {
  readonly name: string;
  readonly statement: string;
  readonly changes: readonly (readonly [from: string, to: string])[];
}

const compareAndSet: readonly (readonly [string, string])[] = [
  [" and d.next_nominal_at = i.nominal_at", ""],
  ["    and (d.fired_through is null or i.nominal_at > d.fired_through)\n", ""],
];
const dueCheck = ["    and d.next_fire_at <= clock_timestamp()\n", ""] as const;
const uniqueKey = ["select i.run_id, j.id, j.namespace_id", "select gen_random_uuid(), j.id, j.namespace_id"] as const;

export const mutants: readonly Mutant[] = [
  {
    name: "completion-without-fence",
    statement: "run.finish",
    changes: [
      [
        "r.id = i.id and r.fence = i.fence and r.session_id = $1 and r.state",
        "r.id = i.id and $1::uuid is not null and r.state",
      ],
    ],
  },
  { name: "claim-without-new-fence", statement: "run.claim", changes: [["fence = r.fence + 1", "fence = r.fence"]] },
  {
    name: "fire-without-any-guard",
    statement: "due.fire",
    changes: [
      ...compareAndSet,
      uniqueKey,
      dueCheck,
      ["  where s.owner = $3 and s.epoch = f.epoch\n", "  where $3::uuid is not null\n"],
    ],
  },
  {
    name: "advance-without-run",
    statement: "due.fire",
    changes: [
      ["join carillon.job j on j.id = p.job_id\n", "join carillon.job j on j.id = p.job_id where random() > 0.02\n"],
    ],
  },
];

export const mutantNames: readonly string[] = mutants.map((mutant) => mutant.name);

/** The text of a statement file with the mutant's changes; unchanged when the statement is not in it. */
export function mutate(mutant: Mutant, text: string): string {
  const head = `-- name: ${mutant.statement}\n`;
  const from = text.indexOf(head);
  if (from === -1) return text;
  const next = text.indexOf("\n-- name: ", from + head.length);
  const until = next === -1 ? text.length : next;
  let statement = text.slice(from, until);
  for (const [old, changed] of mutant.changes) {
    if (!statement.includes(old))
      throw new Error(`the mutant ${mutant.name} finds no ${JSON.stringify(old)} in ${mutant.statement}`);
    statement = statement.replace(old, () => changed);
  }
  return text.slice(0, from) + statement + text.slice(until);
}
