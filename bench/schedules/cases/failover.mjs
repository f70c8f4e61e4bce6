// Two nodes share the shards; one of them is killed inside the herd.
import { setTimeout as sleep } from "node:timers/promises";
import { secondAfter } from "../herds.mjs";
import { result, say } from "../results.mjs";
import { runsInserted } from "../rows.mjs";
import { ServerProcess } from "../server-process.mjs";
import { register } from "../workload.mjs";
import { observeHerd } from "./herd.mjs";

const everySeconds = 20;
const addedTargetMs = 3_000;

export async function failoverCase(site, { count }) {
  const name = `${count.toLocaleString("en")}, kill -9 of one of two nodes`;
  return site.withDatabase(async ({ url, reader }) => {
    const survivor = await ServerProcess.start({ name: "node-0", url });
    const victim = await ServerProcess.start({ name: "node-1", url });
    try {
      const rule = { second: secondAfter((count / 20_000) * 1_000 + 6_000), everySeconds };
      await register(url, { kind: "herd", count, ...rule });
      await untilShared(reader);
      const calm = await observeHerd({ site, reader, rule, count, node: survivor });
      let owed = 0;
      const hit = await observeHerd({
        site,
        reader,
        rule,
        count,
        node: survivor,
        during: async (nominal) => {
          owed = await killInside({ reader, victim, count, nominal });
        },
      });
      return figures(name, { calm, hit, owed, took: tookOverMs(survivor) });
    } finally {
      await victim.end("SIGKILL");
      await survivor.end();
    }
  });
}

/** Resolves when both nodes own about half of the shards. */
async function untilShared(reader) {
  for (;;) {
    const { rows } = await reader.query("select count(*)::int as shards from carillon.shard group by owner");
    if (rows.length === 2 && rows.every((row) => row.shards > 400)) return;
    await sleep(200);
  }
}

/** Kills it once it has begun; answers how many runs its shards then still owed. */
async function killInside({ reader, victim, count, nominal }) {
  const { rows } = await reader.query(
    "select array_agg(id) as shards from carillon.shard where owner = (select id from carillon.node where name = 'node-1')",
  );
  const written = async () => {
    const made = await reader.query("select count(*)::int as count from carillon.run where nominal_at = $1", [
      new Date(nominal),
    ]);
    return made.rows[0].count;
  };
  while ((await written()) < count / 10) await sleep(20);
  await victim.end("SIGKILL");
  const owes = await reader.query(
    "select count(*)::int as count from carillon.job_due where shard = any ($1) and next_nominal_at = $2",
    [rows[0].shards, new Date(nominal)],
  );
  const lateMs = Date.now() - nominal;
  say(
    `killed ${lateMs} ms into the herd; its shards still owe ${owes.rows[0].count}, ${await runsInserted(reader)} inserted`,
  );
  return owes.rows[0].count;
}

function tookOverMs(survivor) {
  const told = survivor.logged("shards.taken_over").map((line) => line.durationMs);
  return told.find((value) => typeof value === "number") ?? null;
}

function figures(name, { calm, hit, owed, took }) {
  const added = hit.all.p99 - calm.all.p99;
  const lines = [
    { metric: "runs that the killed node still owed", unit: "runs", ours: owed, atLeast: 1 },
    { metric: "missed", unit: "runs", ours: hit.verdict.missed + hit.verdict.ledger, atMost: 0 },
    { metric: "double", unit: "runs", ours: hit.verdict.doubles, atMost: 0 },
    { metric: "lateness p99 without the kill", unit: "ms", ours: calm.all.p99 },
    { metric: "lateness p99 with the kill", unit: "ms", ours: hit.all.p99 },
    { metric: "added lateness p99", unit: "ms", ours: added, atMost: addedTargetMs },
  ];
  if (took !== null) lines.push({ metric: "from the last sign of life to the takeover", unit: "ms", ours: took });
  return lines.map((line) => result({ name, ...line }));
}
