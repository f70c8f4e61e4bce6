import { ReplicatedPostgres } from "@carillon/testkit";
import { expect, it } from "vitest";
import { scratchDir } from "../../process/scratch.js";
import { call, startServer } from "../../process/server.js";
import { storedDataDir } from "../../process/stored-data-dir.js";
import { Witness } from "../../process/witness.js";

const args = ["--worker-slots", "0", "--shard-lease", "1s"];

async function runsAt(databaseUrl: string): Promise<number> {
  const witness = new Witness(databaseUrl);
  const [row] = await witness.rows<{ count: number }>("select count(*)::int as count from carillon.run");
  await witness.close();
  return row?.count ?? 0;
}

async function untilReady(url: string, status = 200): Promise<void> {
  while ((await call(`${url}/readyz`).catch(() => null))?.status !== status)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

const accepted = async (url: string): Promise<boolean> =>
  (await call(`${url}/v1/runs`, { task: "unserved", payload: null }).catch(() => null))?.status === 201;

it("a node that has seen the new primary refuses the old one, also when no other server is left, and says so [INV-3]", async () => {
  const postgres = await ReplicatedPostgres.start({ parent: await scratchDir(), template: await storedDataDir() });
  try {
    // The old primary is first in the URL: a node that only checked whether a server takes writes would use it.
    const { process, url } = await startServer(postgres.url, args);
    expect(await accepted(url)).toBe(true);
    await postgres.untilCaughtUp();
    await postgres.cutReplication();
    await postgres.killPrimary();
    await postgres.promote();
    await untilReady(url);
    await postgres.restartOldPrimary();
    expect(await accepted(url)).toBe(true);

    await postgres.stopStandby();
    await process.line(/the database is down/);
    await process.line(/was replaced by a failover and runs on: it is refused/);
    await untilReady(url, 503);
    const { body } = await call(`${url}/readyz`);
    expect(JSON.stringify(body)).toMatch(
      /was replaced by a failover: it is on timeline 1, and this node has seen timeline 2/,
    );
    expect(await accepted(url)).toBe(false);
    expect(await runsAt(postgres.primaryUrl)).toBe(1);

    await postgres.restartStandby();
    await untilReady(url);
    expect(await accepted(url)).toBe(true);
    expect(await runsAt(postgres.standbyUrl)).toBe(3);
    expect((await process.stop()).code).toBe(0);
  } finally {
    await postgres.stop();
  }
});

it("a node moves from an old primary that runs on to the promoted standby, without losing a connection first [INV-3]", async () => {
  const postgres = await ReplicatedPostgres.start({ parent: await scratchDir(), template: await storedDataDir() });
  try {
    const { process, url } = await startServer(postgres.url, args);
    expect(await accepted(url)).toBe(true);
    await postgres.untilCaughtUp();
    await postgres.cutReplication();
    await postgres.promote();
    await process.line(/the database was failed over or restored/);
    await untilReady(url);
    expect(await accepted(url)).toBe(true);
    expect(await runsAt(postgres.standbyUrl)).toBe(2);
    expect(await runsAt(postgres.primaryUrl)).toBe(1);
    expect((await process.stop()).code).toBe(0);
  } finally {
    await postgres.stop();
  }
});

it("a node that starts while an old primary runs beside the new one uses the new one [INV-3]", async () => {
  const postgres = await ReplicatedPostgres.start({ parent: await scratchDir(), template: await storedDataDir() });
  try {
    const first = await startServer(postgres.primaryUrl, args);
    expect((await first.process.stop()).code).toBe(0);
    await postgres.untilCaughtUp();
    await postgres.cutReplication();
    await postgres.promote();
    const { process, url } = await startServer(postgres.url, args);
    expect(await accepted(url)).toBe(true);
    expect([await runsAt(postgres.primaryUrl), await runsAt(postgres.standbyUrl)]).toEqual([0, 1]);
    expect((await process.stop()).code).toBe(0);
  } finally {
    await postgres.stop();
  }
});
