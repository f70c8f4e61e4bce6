import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freshDatabase } from "@carillon/testkit";
import { Client } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { carillon } from "../../../src/index.js";

const program = `
  import { carillon, task } from "carillon";
  const app = carillon();
  const count = task({ name: "count", run: (n) => { console.log(n); } });
  await app.worker({ tasks: [count], queues: { default: 20 } }).start();
  console.log("ready");
`;

/** A user's program with a worker inside. `begun` has the payload of every handler that started. */
async function startWorker(databaseUrl: string): Promise<{ child: ChildProcess; begun: number[] }> {
  const dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  await symlink(fileURLToPath(new URL("../../../../../node_modules", import.meta.url)), join(dir, "node_modules"));
  await writeFile(join(dir, "app.mjs"), program);
  const env = { PATH: process.env["PATH"] ?? "", CARILLON_DATABASE_URL: databaseUrl };
  const child = spawn(process.execPath, ["app.mjs"], { cwd: dir, env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const begun: number[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the worker ended with ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "ready") resolve();
      else begun.push(Number(line));
    });
  });
  return { child, begun };
}

/** Records every directly dispatched run and its session. */
const watch = `
  create table public.dispatched (id uuid primary key, session_id uuid not null);
  create function public.note_dispatched() returns trigger language plpgsql as $$
  begin
    insert into public.dispatched values (new.id, new.session_id);
    return null;
  end $$;
  create trigger note_dispatched after insert on carillon.run for each row when (new.state = 'running') execute function public.note_dispatched();
`;

describe("directly dispatched runs", () => {
  it("directly dispatched runs all end, each accepted once, while workers are killed, frozen and leave [INV-2] [INV-4]", async () => {
    const { url, drop } = await freshDatabase();
    onTestFinished(drop);
    const app = carillon({ databaseUrl: url });
    onTestFinished(() => app.stop());
    await app.enqueueMany("count", []);
    const client = new Client(url);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(watch);
    const dispatchedCount = async (): Promise<number> =>
      (await client.query<{ count: number }>("select count(*)::int from public.dispatched")).rows[0]?.count ?? 0;
    let stored = 0;
    /** One after the other, until so many more were dispatched directly. */
    const storeUntilHanded = async (more: number): Promise<void> => {
      const aim = (await dispatchedCount()) + more;
      do for (let left = 20; left > 0; left--) await app.enqueue("count", ++stored);
      while ((await dispatchedCount()) < aim);
    };

    const killed = await startWorker(url);
    await storeUntilHanded(30);
    killed.child.kill("SIGKILL");
    // Its offers stand for a moment: these are stored for a worker that is gone.
    for (let left = 20; left > 0; left--) await app.enqueue("count", ++stored);
    const frozen = await startWorker(url);
    await storeUntilHanded(30);
    frozen.child.kill("SIGSTOP");
    for (let left = 20; left > 0; left--) await app.enqueue("count", ++stored);
    const leaving = await startWorker(url);
    await storeUntilHanded(30);
    const left = once(leaving.child, "exit");
    leaving.child.kill("SIGTERM");
    const others = [await startWorker(url), await startWorker(url)];
    await storeUntilHanded(30);
    await left;
    frozen.child.kill("SIGCONT");

    const live = async (): Promise<unknown> => (await client.query("select state from carillon.run")).rows;
    await expect.poll(live, { timeout: 60_000, interval: 250 }).toEqual([]);
    const { rows } = await client.query<{ payload: number; status: string; attempt: number }>(
      "select payload, status, attempt from carillon.run_history",
    );
    const payloads = rows.map((row) => row.payload).toSorted((a, b) => a - b);
    expect(payloads).toEqual(Array.from({ length: stored }, (_, index) => index + 1));
    expect(rows.filter((row) => row.status !== "succeeded")).toEqual([]);
    // No worker starts a run that another started, except runs of a killed or frozen worker.
    const all = [killed, frozen, leaving, ...others].flatMap(({ begun }) => begun);
    const lost = new Set([...killed.begun.slice(-20), ...frozen.begun.slice(-20)]);
    const twice = all.filter((n, index) => all.indexOf(n) !== index && !lost.has(n));
    expect(twice).toEqual([]);
    expect(new Set(all).size).toBe(stored);
  });
});
