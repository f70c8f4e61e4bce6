import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { announceServer, answersAs, type LocalServer, localServers } from "../../../src/sdk/local-server.js";

async function scratch(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

const server = (over: Partial<LocalServer> = {}): LocalServer => ({
  url: "http://127.0.0.1:8024",
  pid: process.pid,
  instance: "i1",
  folder: "/srv",
  started_at: "2026-01-01T00:00:00.000Z",
  ...over,
});

/** The pid of a process that has ended. */
const endedPid = (): number => spawnSync(process.execPath, ["--version"]).pid;

describe("the file with the address of a server", () => {
  it("is found from the folder of the server and from folders below it, and is gone after the stop", async () => {
    const dir = await scratch();
    await mkdir(join(dir, "a/b"), { recursive: true });
    const remove = announceServer(join(dir, ".carillon"), server());
    for (const cwd of [dir, join(dir, "a/b")])
      expect(localServers({ cwd, env: {} })).toMatchObject({
        dataDir: join(dir, ".carillon"),
        alive: [server()],
        ended: [],
      });
    remove();
    expect(localServers({ cwd: dir, env: {} })).toBeNull();
    expect(await readdir(dir)).toEqual(["a"]);
  });

  it("leaves a data folder with other files as it was", async () => {
    const dataDir = join(await scratch(), ".carillon");
    await mkdir(dataDir);
    await writeFile(join(dataDir, "server.json"), "{}");
    announceServer(dataDir, server())();
    expect(await readdir(dataDir)).toEqual(["server.json"]);
  });

  it("of a killed server is no living server, hides the folders above, and is removed by the next server", async () => {
    const dir = await scratch();
    const below = join(dir, "below");
    announceServer(join(dir, ".carillon"), server());
    await mkdir(below);
    announceServer(join(below, ".carillon"), server({ pid: endedPid(), instance: "dead" }));
    expect(localServers({ cwd: below, env: {} })).toMatchObject({ alive: [], ended: [{ instance: "dead" }] });
    announceServer(join(below, ".carillon"), server({ instance: "next" }));
    expect(localServers({ cwd: below, env: {} })).toMatchObject({ alive: [{ instance: "next" }], ended: [] });
  });

  it("of the newest server comes first, and each server has its own file", async () => {
    const dir = await scratch();
    const newer = server({ pid: process.ppid, instance: "newer", started_at: "2026-01-02T00:00:00.000Z" });
    const removeNewer = announceServer(join(dir, ".carillon"), newer);
    announceServer(join(dir, ".carillon"), server());
    const found = () => localServers({ cwd: dir, env: {} })?.alive.map(({ instance }) => instance);
    expect(found()).toEqual(["newer", "i1"]);
    removeNewer();
    expect(found()).toEqual(["i1"]);
  });

  it("is searched in the data folder that a variable or the configuration file names", async () => {
    const dir = await scratch();
    announceServer(join(dir, "data"), server());
    expect(localServers({ cwd: dir, env: {} })).toBeNull();
    expect(localServers({ cwd: dir, env: { CARILLON_DATA_DIR: "data" } })?.alive).toHaveLength(1);
    await writeFile(join(dir, "carillon.config.json"), '{"data_dir": "data"}');
    expect(localServers({ cwd: dir, env: {} })?.alive).toHaveLength(1);
  });

  it.each(["{", "[]", '{"pid": "1"}', '{"url": "http://127.0.0.1:1", "pid": 1}'])(
    "with the text %s is ignored",
    async (text) => {
      const dir = await scratch();
      await mkdir(join(dir, ".carillon"));
      await writeFile(join(dir, ".carillon/node.1.json"), text);
      expect(localServers({ cwd: dir, env: {} })).toBeNull();
    },
  );

  it.runIf(process.getuid?.() === 0)(
    "of another user is ignored: it could lead to a server that collects keys",
    async () => {
      const dir = await scratch();
      announceServer(join(dir, ".carillon"), server());
      chownSync(join(dir, ".carillon", `node.${process.pid}.json`), 12_345, 12_345);
      expect(localServers({ cwd: dir, env: {} })).toBeNull();
    },
  );

  it("leads nowhere if another server has the address by now", async () => {
    const other = createServer((_request, response) => response.end('{"instance":"other"}')).listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    expect(await answersAs(server({ url }))).toBe(false);
    expect(await answersAs(server({ url, instance: "other" }))).toBe(true);
    expect(await answersAs(server({ url: "http://127.0.0.1:1" }))).toBe(false);
  });
});
