import { randomBytes } from "node:crypto";
import { uuidv7 } from "@carillon/core";
import type { StoreHarness } from "./store-harness.js";

/** More runs than one page scans. */
export const searchCount = 24_000;
/** Runs of another namespace, older than all others. */
export const foreignCount = 40;

/**
 * History to be searched: run n was created n seconds after the first and has the owner o<n % 4000> and the label n=<n % 8000>; one has the
 * task and the queue rare; each 3000th has a customer in its payload. Run 50 is a one-off job, of which each 7000th is another run. The first
 * runs belong to the namespace small.
 */
export async function fillHistory({ db }: StoreHarness, now: number): Promise<string[]> {
  const ids = Array.from({ length: searchCount }, (_, n) => uuidv7(now - (searchCount - n) * 1_000, randomBytes));
  await db.query({ text: "insert into carillon.namespace (name) values ('small')" });
  await db.query({ text: "insert into carillon.lane (queue, task) values ('rare', 'rare'), ('rare', 'unused')" });
  await db.query(
    {
      text: `insert into carillon.run_history (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task,
               queue, labels, owner, attempt, losses, fence, session_id, started_at, finished_at)
             select i.id, case when i.n % 7000 = 49 then ($1::uuid[])[51] else i.id end,
                    case when i.n < ${foreignCount} then (select id from carillon.namespace where name = 'small') else 1 end,
                    case when i.n % 5000 = 41 then 'failed' when i.n % 5000 = 42 then 'cancelled' else 'succeeded' end, 4,
                    t.at, t.at, t.at, case when i.n % 6000 = 43 then 'run_now:x' else 'once' end,
                    case when i.n = 45 then 'rare' else 'echo' end, case when i.n = 45 then 'rare' else 'default' end,
                    case when i.n % 3000 = 47 then jsonb_build_object('$.customer.id', i.n::text)
                         when i.n % 2 = 0 then jsonb_build_object('n', (i.n % 8000)::text, 'kind', 'a') end,
                    case when i.n % 2 = 1 then 'o' || i.n % 4000 end, 1, 0, 1, i.id, t.at, now()
             from unnest($1::uuid[]) with ordinality as o (id, place)
             cross join lateral (select o.id, (o.place - 1)::int as n) i
             cross join lateral (select to_timestamp($2::float8 / 1000) - (${searchCount} - i.n) * interval '1 second' as at) t`,
    },
    [ids, now],
  );
  await db.query({ text: "analyze carillon.run_history" });
  return ids;
}
