// Two nodes share the shards; one of them is killed during a herd.
import { setTimeout as sleep } from "node:timers/promises";
import { result, say } from "../../report.mjs";
import { ServerProcess } from "../../server-process.mjs";
import { runsInserted, secondAfter } from "../herds.mjs";
import { register } from "../workload.mjs";
import { observeHerd } from "./herd.mjs";

const everySeconds = 20;
const addedTargetMs = 3_000;

export async function failoverCase(postgres, { count }) {
  const name = `${count.toLocaleString("en")}, kill -9 of one of two nodes`;
  return postgres.withDatabase(async ({ url, reader }) => {
    const survivor = await ServerProcess.start({ name: "node-0", url });
    const victim = await ServerProcess.start({ name: "node-1", url });
    try {
      const rule = { second: secondAfter((count / 20_000) * 1_000 + 6_000), everySeconds };
      await register(url, { kind: "herd", count, ...rule });
      await untilShared(reader);
      const calm = await observeHerd({ postgres, reader, rule, count, node: survivor });
      let unfired = 0;
      const hit = await observeHerd({
        postgres,
        reader,
        rule,
        count,
        node: survivor,
        during: async (nominal) => {
          unfired = await killDuringHerd({ reader, victim, count, nominal });
        },
      });
      return toResults(name, { calm, hit, unfired, takeoverMs: readTakeoverMs(survivor) });
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

/** Kills the node after a tenth of the herd has fired; returns how many jobs of its shards had not fired. */
async function killDuringHerd({ reader, victim, count, nominal }) {
  const { rows } = await reader.query(
    "select array_agg(id) as shards from carillon.shard where owner = (select id from carillon.node where name = 'node-1')",
  );
  const countRuns = async () => {
    const counted = await reader.query("select count(*)::int as count from carillon.run where nominal_at = $1", [
      new Date(nominal),
    ]);
    return counted.rows[0].count;
  };
  while ((await countRuns()) < count / 10) await sleep(20);
  await victim.end("SIGKILL");
  const due = await reader.query(
    "select count(*)::int as count from carillon.job_due where shard = any ($1) and next_nominal_at = $2",
    [rows[0].shards, new Date(nominal)],
  );
  const lateMs = Date.now() - nominal;
  say(
    `killed ${lateMs} ms into the herd; ${due.rows[0].count} jobs of its shards had not fired, ${await runsInserted(reader)} runs inserted`,
  );
  return due.rows[0].count;
}

function readTakeoverMs(survivor) {
  const durations = survivor.logged("shards.taken_over").map((line) => line.takeoverMs);
  return durations.find((value) => typeof value === "number") ?? null;
}

function toResults(name, { calm, hit, unfired, takeoverMs }) {
  const added = hit.all.p99 - calm.all.p99;
  const lines = [
    { metric: "jobs the killed node had not fired", unit: "jobs", ours: unfired, atLeast: 1 },
    { metric: "missed", unit: "runs", ours: hit.verdict.missed + hit.verdict.ledger, atMost: 0 },
    { metric: "duplicates", unit: "runs", ours: hit.verdict.duplicates, atMost: 0 },
    { metric: "lateness p99 without the kill", unit: "ms", ours: calm.all.p99 },
    { metric: "lateness p99 with the kill", unit: "ms", ours: hit.all.p99 },
    { metric: "added lateness p99", unit: "ms", ours: added, atMost: addedTargetMs },
  ];
  if (takeoverMs !== null)
    lines.push({ metric: "from the last heartbeat to the takeover", unit: "ms", ours: takeoverMs });
  return lines.map((line) => result({ name, ...line }));
}
