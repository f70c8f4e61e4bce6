import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Terminal } from "../../src/io.js";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serveBy } from "./fake-server.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "carillon-profile-"));
});
afterEach(() => {
  rmSync(home, { recursive: true });
  vi.unstubAllGlobals();
});

const file = (): string => join(home, "carillon", "profiles.json");

/** The address and headers of each request. */
function serveAll(status = 200) {
  const seen: { origin: string; path: string; key: string | null; namespace: string | null }[] = [];
  serveBy(({ url, headers }) => {
    const { origin, pathname } = new URL(url);
    seen.push({
      origin,
      path: pathname,
      key: headers.get("authorization"),
      namespace: headers.get("carillon-namespace"),
    });
    return {
      status,
      body: {
        version: "1.2.3",
        jobs: [],
        queues: [],
        next_page_token: null,
        status,
        code: "unauthorized",
        detail: "No.",
      },
    };
  });
  return seen;
}

async function run(argv: string[], given: { env?: Record<string, string>; stdin?: string } = {}) {
  const io = fakeIo({ env: { XDG_CONFIG_HOME: home, ...given.env }, stdin: [given.stdin ?? ""] });
  const code = await runCli(argv, io);
  return { code, out: io.written(), said: io.said.join("\n") };
}

const login = (url: string, ...argv: string[]) => run(["login", url, ...argv], { stdin: "secret-key\n" });

describe("login", () => {
  it("login tries the key, stores it for its owner only, and never prints it", async () => {
    const seen = serveAll();
    const { code, out, said } = await login("https://one.example/", "--profile", "one", "--namespace", "billing");
    expect(code).toBe(0);
    expect(seen).toMatchObject([
      { path: "/version" },
      { path: "/v1/jobs", key: "Bearer secret-key", namespace: "billing" },
    ]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file(), "utf8"))).toEqual({
      current: "one",
      profiles: { one: { url: "https://one.example", namespace: "billing", token: "secret-key" } },
    });
    expect(out + said).not.toContain("secret-key");
    expect(out + (await run(["profile", "list", "--json"])).out).not.toContain("secret-key");
  });

  it("login stores nothing when the server refuses the key, with exit code 4", async () => {
    serveAll(401);
    expect((await login("https://one.example")).code).toBe(4);
    expect((await run(["profile", "list"])).said).toContain("no profiles");
  });

  it("login prompts on a terminal, without an echo, and handles backspace", async () => {
    const seen = serveAll();
    const terminal: Terminal = {
      size: () => ({ columns: 80, rows: 24 }),
      onKey: (listener) => {
        queueMicrotask(() => listener("secret-kex\u007fy\r"));
        return () => undefined;
      },
      onResize: () => () => undefined,
      takeScreen: () => () => undefined,
    };
    const io = fakeIo({ env: { XDG_CONFIG_HOME: home }, terminal });
    expect(await runCli(["login", "https://one.example"], io)).toBe(0);
    expect(seen.at(-1)?.key).toBe("Bearer secret-key");
    expect(String((io.stderr as PassThrough).read())).toBe("API key for https://one.example: \n");
  });

  it.each([
    [["nowhere"], "", "is not a server's address"],
    [["https://one.example"], "", "--no-key"],
    [["https://one.example", "--profile", "a b"], "x", "letters, digits"],
  ])("refuses %j with exit code 2", async (argv, stdin, message) => {
    serveAll();
    const { code, said } = await run(["login", ...argv], { stdin });
    expect(code).toBe(2);
    expect(said).toContain(message);
  });
});

describe("where a command goes", () => {
  const one = { origin: "https://one.example", key: "Bearer secret-key" };
  const two = { origin: "http://two.example", key: null };
  const env = { CARILLON_URL: "http://env.example" };

  it.each<[string, string[], Record<string, string>, object]>([
    ["the profile in use", [], {}, two],
    ["a flag that names another profile", ["--profile", "one"], {}, { ...one, namespace: "billing" }],
    ["a variable that names another profile", [], { CARILLON_PROFILE: "one" }, one],
    ["CARILLON_URL over the profile, without its key", [], env, { origin: "http://env.example", key: null }],
    [
      "CARILLON_URL over CARILLON_PROFILE, without its key",
      [],
      { ...env, CARILLON_PROFILE: "one" },
      { origin: "http://env.example", key: null, namespace: null },
    ],
    ["--profile over CARILLON_URL", ["--profile", "one"], env, one],
    [
      "--url over everything, without the key of another server",
      ["--url", "http://x.example", "--profile", "one"],
      env,
      { origin: "http://x.example", key: null },
    ],
    ["--url of the profile's own server, with its key", ["--url", "https://one.example/", "--profile", "one"], {}, one],
    [
      "CARILLON_TOKEN over the stored key",
      [],
      { CARILLON_PROFILE: "one", CARILLON_TOKEN: "t" },
      { ...one, key: "Bearer t" },
    ],
    ["--namespace over the profile's", ["--profile", "one", "--namespace", "n"], {}, { namespace: "n" }],
  ])("the address of a command is %s", async (_, argv, variables, expected) => {
    const seen = serveAll();
    await login("https://one.example", "--profile", "one", "--namespace", "billing");
    await run(["login", "http://two.example", "--profile", "two", "--no-key"]);
    expect((await run(["job", "list", ...argv], { env: variables })).code).toBe(0);
    expect(seen.at(-1)).toMatchObject(expected);
  });
});

describe("profiles", () => {
  it("profiles are listed, chosen and deleted", async () => {
    serveAll();
    await login("https://one.example", "--profile", "one");
    await login("https://two.example", "--profile", "two");
    expect(JSON.parse((await run(["profile", "list", "--json"])).out)).toEqual([
      { name: "one", url: "https://one.example", namespace: null, has_key: true, in_use: false },
      { name: "two", url: "https://two.example", namespace: null, has_key: true, in_use: true },
    ]);
    expect((await run(["profile", "use", "one"])).said).toContain("undo with: carillon profile use two");
    expect((await run(["profile", "delete", "one"])).code).toBe(0);
    expect(JSON.parse(readFileSync(file(), "utf8"))).toMatchObject({ current: null, profiles: { two: {} } });
  });

  it("an unknown profile is an error that lists the known ones", async () => {
    serveAll();
    expect(await run(["job", "list", "--profile", "x"])).toMatchObject({
      code: 3,
      said: expect.stringContaining("carillon login"),
    });
    await login("https://one.example", "--profile", "one");
    expect(await run(["profile", "use", "x"])).toMatchObject({
      code: 3,
      said: expect.stringContaining("There are one"),
    });
    expect((await run(["profile", "use"])).code).toBe(2);
  });

  it("a profile file that others can read, or that is broken, is refused with exit code 78", async () => {
    serveAll();
    await login("https://one.example");
    chmodSync(file(), 0o640);
    expect(await run(["job", "list"])).toMatchObject({ code: 78, said: expect.stringContaining("chmod 600") });
    writeFileSync(file(), "{}");
    chmodSync(file(), 0o600);
    expect((await run(["job", "list"])).code).toBe(78);
  });
});

describe("api", () => {
  it("api sends one request with the key, and prints the answer unchanged", async () => {
    const seen: unknown[] = [];
    serveBy(({ method, url, body, headers }) => {
      seen.push([method, url, body, headers.get("authorization"), headers.get("if-match")]);
      return { body: { a: 1 } };
    });
    const env = { CARILLON_TOKEN: "t" };
    const argv = ["api", "/v1/jobs/@k?x=1", "-X", "PATCH", "-d", '{"b":2}', "-H", 'If-Match: "v7"'];
    expect(await run(argv, { env })).toMatchObject({ code: 0, out: '{"a":1}\n' });
    expect(seen).toEqual([["PATCH", "http://127.0.0.1:8023/v1/jobs/@k?x=1", { b: 2 }, "Bearer t", '"v7"']]);
  });

  it.each([
    [404, 3],
    [401, 4],
    [412, 5],
    [503, 1],
  ])("api ends an answer with status %i with the exit code %i", async (status, code) => {
    serveAll(status);
    const { out, ...ended } = await run(["api", "/v1/x"]);
    expect(ended.code).toBe(code);
    expect(JSON.parse(out)).toMatchObject({ status });
  });

  it.each([
    [["api", "v1/jobs"], "must begin with /"],
    [["api", "/v1/jobs", "-H", "nothing"], "Name: value"],
    [["api", "/v1/jobs", "-d", "{"], "not JSON"],
  ])("refuses %j with exit code 2", async (argv, message) => {
    expect(await run(argv)).toMatchObject({ code: 2, said: expect.stringContaining(message) });
  });
});
