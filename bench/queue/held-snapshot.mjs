// Another session holds an old snapshot, as a long report or a stuck transaction would: rows that die after it cannot be vacuumed.
import { Client } from "pg";
import { drain } from "./cases.mjs";
import { compare, rateResult } from "./results.mjs";

export async function heldSnapshot(each, count) {
  const applies = (system) => system.on === "postgres" && system.isSlow !== true;
  const free = compare(await each((runner, system) => drain(runner, system, { count, processes: 2 }), applies));
  const held = compare(
    await each((runner, system) => drain(runner, system, { count, processes: 2, before: hold }), applies),
  );
  const share = {
    ours: held.ours / free.ours,
    peers: Object.fromEntries(Object.keys(free.peers).map((name) => [name, held.peers[name] / free.peers[name]])),
  };
  return [
    rateResult("held snapshot", `drain of ${count.toLocaleString("en")} without it`, free),
    rateResult("held snapshot", `drain of ${count.toLocaleString("en")} with it`, held),
    { ...rateResult("held snapshot", "remaining share of the rate", share, { atLeast: 0.8 }), unit: "of 1" },
  ];
}

async function hold({ url }) {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  await client.query("begin isolation level repeatable read");
  await client.query("select count(*) from pg_class");
  return () => client.end();
}
