// Ways to keep the hot table. Each changes the migrated schema, and the statement where it must.

const byState = [
  "drop index carillon.run_claim",
  "drop index carillon.run_due",
  "drop index carillon.run_blocked",
  "alter table carillon.run set (fillfactor = 90)",
  "create index run_claim on carillon.run (lane, namespace_id, rank) where state = 'queued'",
  "create index run_due on carillon.run (shard, run_at) where state in ('scheduled', 'retrying')",
  "create index run_blocked on carillon.run (shard, id) where state = 'blocked'",
];

/** Replaces what must be there. */
function replaced(text, ...pairs) {
  return pairs.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`run.complete_and_claim does not contain: ${from}`);
    return changed.replace(from, to);
  }, text);
}

const claimsByState = (text) => replaced(text, ["r.stage = 1 and r.state = 'queued'", "r.state = 'queued'"]);
const joinedById = (text) =>
  replaced(
    text,
    ["select q.ctid as place, q.id,", "select q.id as place, q.id,"],
    ["select r.ctid, r.id,", "select r.id,"],
    ["r.ctid = g.place", "r.id = g.place"],
  );

export const ways = [
  { name: "by state, joined by id", changes: byState, statement: (text) => joinedById(claimsByState(text)) },
  { name: "by state", changes: byState, statement: claimsByState },
  {
    name: "by state, and running by session",
    changes: [...byState, "create index on carillon.run ((session_id::text)) where state = 'running'"],
    statement: claimsByState,
  },
  {
    name: "by stage, a third of a page free",
    changes: ["alter table carillon.run set (fillfactor = 65)"],
    statement: (text) => text,
  },
  { name: "by stage, half free: as it is", changes: [], statement: (text) => text },
];
