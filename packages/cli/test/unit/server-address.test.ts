import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { announceServer, type LocalServer } from "@carillon/worker";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { writeProfiles } from "../../src/profiles.js";
import { fakeIo } from "./fake-io.js";
import { serveBy } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

async function scratch(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

const noJobs = { jobs: [], next_page_token: null };
const local: LocalServer = {
  url: "http://127.0.0.1:8024",
  pid: process.pid,
  instance: "mine",
  folder: "/srv",
  started_at: "2026-01-01T00:00:00.000Z",
};

/** Answers by the address: `instance` is the identity of the server of the folder. */
const servers = (instance = "mine", headers: Record<string, string> = {}) =>
  serveBy(({ url }) => (url.endsWith("/version") ? { body: { instance } } : { body: noJobs, headers }));

const jobList = async (io: ReturnType<typeof fakeIo>, ...flags: readonly string[]) =>
  runCli(["job", "list", ...flags], io);

describe("the server of a command", () => {
  it("is named by --url, then CARILLON_URL, the profile, CARILLON_PORT, the file of the folder, and the default", async () => {
    const dir = await scratch();
    const cwd = join(dir, "below");
    await mkdir(cwd);
    announceServer(join(dir, ".carillon"), local);
    const withProfile = { XDG_CONFIG_HOME: join(dir, "config") };
    writeProfiles(withProfile, { current: "one", profiles: { one: { url: "http://profile.example" } } });
    const all = { ...withProfile, CARILLON_URL: "http://env.example", CARILLON_PORT: "9000" };
    const asked = async (env: Record<string, string>, place: string, ...flags: readonly string[]): Promise<unknown> => {
      const calls = servers();
      expect(await jobList(fakeIo({ env, cwd: place }), ...flags)).toBe(0);
      return new URL(calls.at(-1)?.url ?? "").origin;
    };
    expect(await asked(all, cwd, "--url", "http://flag.example")).toBe("http://flag.example");
    expect(await asked(all, cwd)).toBe("http://env.example");
    expect(await asked({ ...withProfile, CARILLON_PORT: "9000" }, cwd)).toBe("http://profile.example");
    expect(await asked({ CARILLON_PORT: "9000" }, cwd)).toBe("http://127.0.0.1:9000");
    expect(await asked({ CARILLON_PORT: "9000", CARILLON_HOST: "::1" }, cwd)).toBe("http://[::1]:9000");
    expect(await asked({}, cwd)).toBe(local.url);
    expect(await asked({ CARILLON_PORT: "0" }, cwd)).toBe(local.url);
    expect(await asked({}, "/nowhere")).toBe("http://127.0.0.1:8023");
  });

  it("is never another one if that of the folder was killed, or another has its address: exit code 1 says which ended", async () => {
    const dir = await scratch();
    const calls = servers("other");
    announceServer(join(dir, ".carillon"), local);
    const stolen = fakeIo({ cwd: dir });
    expect(await jobList(stolen)).toBe(1);
    expect(stolen.said.join()).toMatch(
      /The server of \/srv was http:\/\/127\.0\.0\.1:8024 .* does not answer there\..*carillon dev/,
    );
    expect(calls.map(({ url }) => url)).toEqual([`${local.url}/version`]);

    const killed = join(await scratch(), ".carillon");
    announceServer(killed, { ...local, pid: spawnSync(process.execPath, ["--version"]).pid });
    const io = fakeIo({ cwd: join(killed, "..") });
    expect(await jobList(io)).toBe(1);
    expect(io.said.join()).toMatch(/and has ended\. Is the server running\?/);
    expect(calls).toHaveLength(1);
  });

  it("at the default address is announced once if it belongs to another folder", async () => {
    servers("mine", { "carillon-folder": encodeURI("/srv/größe") });
    const [inside, outside, named] = [fakeIo({ cwd: "/srv/größe/a" }), fakeIo(), fakeIo()];
    expect(await jobList(inside)).toBe(0);
    expect(await jobList(outside)).toBe(0);
    expect(await jobList(named, "--url", "http://127.0.0.1:8023")).toBe(0);
    expect(inside.said).toEqual(["carillon: no jobs"]);
    expect(outside.said).toEqual([
      "carillon: the server at http://127.0.0.1:8023 is that of /srv/größe; this folder has none (carillon dev)",
      "carillon: no jobs",
    ]);
    expect(named.said).toEqual(["carillon: no jobs"]);
  });

  it.each([
    [{}, /The address is the default, because no server has a file in \.carillon of \/nowhere or a folder above it\./],
    [{ CARILLON_PORT: "9000" }, /http:\/\/127\.0\.0\.1:9000 .*The address is from CARILLON_PORT\./],
  ])("that does not answer is reported with what named it, and how to start one", async (env, expected) => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("fetch failed")));
    const io = fakeIo({ env });
    expect(await jobList(io)).toBe(1);
    expect(io.said.join()).toMatch(expected);
    expect(io.said.join()).toContain("Start one with `carillon dev`");
  });

  it("has no port that is no number: exit code 78", async () => {
    const io = fakeIo({ env: { CARILLON_PORT: "http" } });
    expect(await jobList(io)).toBe(78);
    expect(io.said.join()).toContain('CARILLON_PORT is "http"; it must be a port from 0 to 65535.');
  });
});
