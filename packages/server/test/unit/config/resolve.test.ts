import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { type ConfigSources, resolveConfig } from "../../../src/config/resolve.js";

const resolve = (given: Partial<ConfigSources> = {}) =>
  resolveConfig({ flags: {}, env: {}, file: null, cwd: "/srv/app", ...given });

const file = (content: unknown, folder = "/etc/carillon") => ({
  path: "carillon.config.json",
  folder,
  text: typeof content === "string" ? content : JSON.stringify(content),
});

function problemsOf(given: Partial<ConfigSources>): string[] {
  try {
    resolve(given);
  } catch (error) {
    if (error instanceof CarillonError && error.code === "config_invalid") {
      return error.items.map((item) => item.detail);
    }
    throw error;
  }
  return [];
}

describe("resolveConfig", () => {
  it("has a default for every option and reports it as the origin", () => {
    const { config, origins } = resolve();
    expect(config).toMatchObject({
      host: "127.0.0.1",
      port: 8023,
      dataDir: "/srv/app/.carillon",
      databaseUrl: null,
      databaseSchema: "carillon",
      roles: ["api", "scheduler", "gateway"],
      logLevel: "info",
    });
    expect(new Set(Object.values(origins))).toEqual(new Set(["default"]));
  });

  it("prefers the flag to the environment, the file and the default, and names the source", () => {
    const all = {
      flags: { port: "1" },
      env: { CARILLON_PORT: "2", CARILLON_WORKER_SLOTS: "7" },
      file: file({ port: 3 }),
    };
    expect(resolve(all).config).toMatchObject({ port: 1, workerSlots: 7 });
    expect(resolve(all).origins).toMatchObject({ port: "--port", workerSlots: "CARILLON_WORKER_SLOTS" });
    expect(resolve({ ...all, flags: {} }).config.port).toBe(2);
    expect(resolve({ file: file({ port: 3 }) })).toMatchObject({
      config: { port: 3 },
      origins: { port: "carillon.config.json" },
    });
  });

  it("freezes the configuration it returns", () => {
    for (const given of [{}, { file: file({ roles: ["api", "scheduler", "gateway"] }) }]) {
      const { config, origins } = resolve(given);
      expect(Object.isFrozen(config) && Object.isFrozen(config.roles) && Object.isFrozen(origins)).toBe(true);
    }
  });

  it("reads durations as milliseconds and lists from text or from an array", () => {
    expect(resolve({ env: { CARILLON_SHUTDOWN_GRACE_PERIOD: "1m30s" } }).config.shutdownGracePeriod).toBe(90_000);
    const roles = ["api", "scheduler", "gateway"];
    expect(resolve({ env: { CARILLON_ROLES: "gateway, scheduler,api" } }).config.roles).toEqual(roles);
    expect(resolve({ file: file({ roles: roles.toReversed() }) }).config.roles).toEqual(roles);
  });

  it("reads quotas as requests per time, reads off as none, and refuses other values", () => {
    const env = { CARILLON_QUOTA_READ: "600/1m", CARILLON_QUOTA_WRITE: "off" };
    const given = resolve({ env, file: file({ quota_write: "5/1s", quota_bulk: "10/1h30m" }) }).config;
    expect(given).toMatchObject({
      quotaRead: { requests: 600, windowMs: 60_000 },
      quotaWrite: null,
      quotaBulk: { requests: 10, windowMs: 5_400_000 },
      quotaStream: null,
    });
    for (const quotaRead of [
      "600",
      "0/1m",
      "1000001/1s",
      "5/500ms",
      "5/1500ms",
      "5/2d",
      "5/0s",
      "-1/1s",
      "a/b",
      "5/1m/1s",
    ]) {
      expect(problemsOf({ flags: { quotaRead } })).toEqual([
        `quota_read must be requests and a time, such as 600/1m (up to 1000000 in 1s to 1d, whole seconds), or off, not ${JSON.stringify(quotaRead)} (from --quota-read)`,
      ]);
    }
    expect(problemsOf({ file: file({ quota_read: 600 }) })).toHaveLength(1);
  });

  it("resolves a relative path in the file from the file's folder, any other from the working directory", () => {
    expect(resolve({ file: file({ data_dir: "data" }) }).config.dataDir).toBe("/etc/carillon/data");
    expect(resolve({ env: { CARILLON_DATA_DIR: "data" } }).config.dataDir).toBe("/srv/app/data");
    expect(resolve({ flags: { dataDir: "/data" } }).config.dataDir).toBe("/data");
  });

  it("treats an empty variable as not set", () => {
    expect(resolve({ env: { CARILLON_DATABASE_URL: "", CARILLON_PORT: "" } }).config).toMatchObject({
      databaseUrl: null,
      port: 8023,
    });
  });

  it("lists every mistake at once, with its source and the valid values", () => {
    const problems = problemsOf({
      flags: { port: "80x" },
      env: { CARILLON_LOG_LEVEL: "loud", CARILLON_SHUTDOWN_GRACE_PERIOD: "10 parsecs" },
      file: file({ roles: ["api", "cook"], worker_slots: -1 }),
    });
    expect(problems).toEqual([
      'port must be a whole number from 0 to 65535, not "80x" (from --port)',
      'roles must be one or more of api, scheduler, gateway, not ["api","cook"] (from carillon.config.json)',
      "worker_slots must be a whole number from 0 to 10000, not -1 (from carillon.config.json)",
      'log_level must be one of trace, debug, info, warn, error, fatal, silent, not "loud" (from CARILLON_LOG_LEVEL)',
      expect.stringMatching(
        /^shutdown_grace_period must be a duration .*, not "10 parsecs" \(from CARILLON_SHUTDOWN_GRACE_PERIOD\)$/,
      ),
    ]);
  });

  it("refuses unknown keys and variables with the most similar name", () => {
    expect(
      problemsOf({ env: { CARILLON_PROT: "1" }, file: file({ dataDir: "x", colour: "red", $schema: "x" }) }),
    ).toEqual([
      "dataDir is not a setting; did you mean data_dir? (from carillon.config.json)",
      "colour is not a setting (from carillon.config.json)",
      "CARILLON_PROT is not a setting; did you mean CARILLON_PORT? (from the environment)",
    ]);
  });

  it("refuses the earlier names of renamed keys with their new names", () => {
    const env = { CARILLON_MAX_REQUEST_BYTES: "5", CARILLON_RUN_HISTORY_DAYS: "9" };
    expect(problemsOf({ env, file: file({ lease: "5s", max_requests: 9 }) })).toEqual([
      "lease is not a setting; did you mean shard_lease? (from carillon.config.json)",
      "max_requests is not a setting; did you mean max_inflight_requests? (from carillon.config.json)",
      "CARILLON_MAX_REQUEST_BYTES is not a setting; did you mean CARILLON_MAX_INFLIGHT_BYTES? (from the environment)",
      "CARILLON_RUN_HISTORY_DAYS is not a setting; did you mean CARILLON_RUN_RETENTION_DAYS? (from the environment)",
    ]);
  });

  it("ignores variables of the client, the build and the tests", () => {
    const env = {
      CARILLON_URL: "http://127.0.0.1:1",
      CARILLON_SKIP_BUILD: "1",
      CARILLON_CONFIG: "x",
      CARILLON_TEST_PG: "x",
    };
    expect(problemsOf({ env })).toEqual([]);
  });

  it("masks the password of a URL that it refuses", () => {
    const [problem] = problemsOf({ env: { CARILLON_DATABASE_URL: "mysql://app:se@cret@db/x" } });
    expect(problem).toContain("mysql://app:***@db/x");
    expect(problem).not.toContain("cret");
  });

  it("refuses a file that is not one JSON object, and reports the reason", () => {
    expect(problemsOf({ file: file("{port: 1}") })[0]).toMatch(/^carillon\.config\.json is not JSON: /);
    expect(problemsOf({ file: file([1]) })).toEqual(["carillon.config.json must hold one JSON object"]);
  });

  it.each(["0.0.0.0", "::", "10.1.2.3", "example.com"])("refuses to listen on %s without authentication", (host) => {
    expect(problemsOf({ flags: { host } })[0]).toMatch(/this version has no authentication/);
  });

  it.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("listens on %s", (host) => {
    expect(resolve({ flags: { host } }).config.host).toBe(host);
  });

  it("refuses a direct URL without the URL of the pooler", () => {
    expect(problemsOf({ env: { CARILLON_DATABASE_DIRECT_URL: "postgres://db/x" } })).toEqual([
      expect.stringContaining("set database_url as well"),
    ]);
  });

  it("refuses a choice of roles while every node has all of them", () => {
    expect(problemsOf({ env: { CARILLON_ROLES: "api" } })).toEqual([expect.stringContaining("leave roles out")]);
  });

  it("accepts etcd as the coordinator, with endpoints from text or from an array and without final slashes", () => {
    const etcd = { CARILLON_COORDINATOR: "etcd", CARILLON_DATABASE_URL: "postgres://db/x" };
    const addresses = ["http://10.0.0.1:2379", "https://etcd.example", "http://[::1]:2379"];
    const fromText = resolve({ env: { ...etcd, CARILLON_ETCD_ENDPOINTS: addresses.join("/, ") } }).config;
    expect(fromText).toMatchObject({ coordinator: "etcd", etcdEndpoints: addresses, etcdPrefix: "carillon" });
    expect(Object.isFrozen(fromText.etcdEndpoints)).toBe(true);
    const fromFile = resolve({ env: etcd, file: file({ etcd_endpoints: addresses, etcd_prefix: "shop/eu" }) }).config;
    expect(fromFile).toMatchObject({ etcdEndpoints: addresses, etcdPrefix: "shop/eu" });
  });

  it.each(["", "10.0.0.1:2379", "http://", "http://a:2379/v3", "http://me:pw@a:2379", "http://a,,http://b", "ftp://a"])(
    "refuses the etcd endpoints %j",
    (etcdEndpoints) => {
      expect(problemsOf({ flags: { etcdEndpoints } })).toEqual([
        `etcd_endpoints must be one or more addresses such as http://10.0.0.1:2379, separated by commas, not ${JSON.stringify(etcdEndpoints)} (from --etcd-endpoints)`,
      ]);
    },
  );

  it.each(["", "/a", "a/", "a b", "ä"])("refuses the etcd prefix %j", (etcdPrefix) => {
    expect(problemsOf({ flags: { etcdPrefix } })).toEqual([expect.stringMatching(/^etcd_prefix must be 1 to 200/)]);
  });

  it("refuses etcd without its endpoints, over an embedded database, or with a lease that is impossible in etcd", () => {
    const problems = problemsOf({ flags: { coordinator: "etcd", shardLease: "1500ms" } });
    expect(problems).toEqual([
      "etcd_endpoints is missing: coordinator etcd needs the addresses of etcd",
      expect.stringContaining("set database_url as well, or leave coordinator out"),
      expect.stringMatching(/^shard_lease 1\.?5?.* is not possible with etcd/),
    ]);
    const rest = { coordinator: "etcd", databaseUrl: "postgres://db/x", etcdEndpoints: "http://a" };
    expect(problemsOf({ flags: { ...rest, shardLease: "1s" } })).toEqual([expect.stringContaining("use 2s or more")]);
    expect(problemsOf({ flags: { ...rest, shardLease: "2s" } })).toEqual([]);
  });

  it("refuses etcd endpoints without the etcd coordinator", () => {
    expect(problemsOf({ flags: { etcdEndpoints: "http://a:2379" } })).toEqual([
      "etcd_endpoints are not used with coordinator postgres: set coordinator to etcd, or leave them out",
    ]);
  });

  it("accepts several hosts in a database URL", () => {
    const url = "postgres://app:pw@a:5432,b:5433/carillon?target_session_attrs=read-write";
    expect(resolve({ flags: { databaseUrl: url } }).config.databaseUrl).toBe(url);
  });
});
