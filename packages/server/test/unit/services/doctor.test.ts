import type { EtcdStatus } from "@carillon/engine";
import { describe, expect, it } from "vitest";
import { checkEtcd, checkNodeVersion, checkZoneData, judgeSpace } from "../../../src/services/doctor/checks.js";
import { checkSkew } from "../../../src/services/doctor/doctor.js";

const MB = 1024 * 1024;

describe("doctor", () => {
  it.each([
    ["18.20.0", "fail"],
    ["20.18.1", "fail"],
    ["20.19.0", "warn"],
    ["22.0.0", "ok"],
    ["26.1.0", "ok"],
  ])("doctor rates Node %s: %s", (version, status) => {
    expect(checkNodeVersion(version).status).toBe(status);
  });

  it.each([
    ["2026b", "ok"],
    ["2025a", "ok"],
    ["2024b", "warn"],
    [undefined, "fail"],
  ])("doctor rates zone data of %s in 2026: %s", (version, status) => {
    expect(checkZoneData(version, Date.parse("2026-06-01T00:00:00Z")).status).toBe(status);
  });

  it.each([
    [50, "fail"],
    [500, "warn"],
    [5_000, "ok"],
  ])("doctor rates %i MB of free space: %s", (mb, status) => {
    expect(judgeSpace("/data", mb * MB)).toMatchObject({ status, detail: `${mb} MB free for /data` });
  });

  it("doctor rates the clock skew, and reports which clock is ahead", () => {
    expect(checkSkew(12.4)).toMatchObject({ status: "ok", detail: "this machine is 12 ms ahead of the database" });
    expect(checkSkew(-5_000)).toMatchObject({ status: "warn", detail: "this machine is 5000 ms behind the database" });
  });

  it("doctor gives a remedy for each problem, and only there", () => {
    for (const finding of [checkNodeVersion("18.0.0"), checkSkew(0), checkSkew(9_999), judgeSpace("/", 0)]) {
      expect("remedy" in finding).toBe(finding.status !== "ok");
    }
  });
});

describe("doctor on etcd", () => {
  const healthy: EtcdStatus = { version: "3.5.9", clusterId: "1", hasLeader: true };
  /** The status of each endpoint, or the error of its call. */
  const statuses = async (answers: Readonly<Record<string, EtcdStatus | Error>>) => {
    const found = await checkEtcd(Object.keys(answers), async (endpoint) => {
      const answer = answers[endpoint];
      if (answer === undefined || answer instanceof Error) throw answer;
      return answer;
    });
    return found.map(({ status, detail }) => `${status} ${detail}`);
  };
  const refused = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });

  it("doctor reports ok when every etcd endpoint answers", async () => {
    expect(await statuses({ "http://a": healthy, "http://b": healthy })).toEqual([
      "ok http://a answers, version 3.5.9",
      "ok http://b answers, version 3.5.9",
    ]);
  });

  it("doctor warns of an etcd endpoint that is down or has no leader while another is usable", async () => {
    const cutOff = { ...healthy, hasLeader: false };
    expect(await statuses({ "http://a": refused, "http://b": cutOff, "http://c": healthy })).toEqual([
      "warn http://a does not answer (connect ECONNREFUSED)",
      "warn http://b has no leader",
      "ok http://c answers, version 3.5.9",
    ]);
    expect(await statuses({ "http://a": refused, "http://b": cutOff })).toEqual([
      "fail http://a does not answer (connect ECONNREFUSED)",
      "fail http://b has no leader",
    ]);
  });

  it("doctor fails when the etcd endpoints belong to different clusters", async () => {
    const found = await statuses({ "http://a": healthy, "http://b": { ...healthy, clusterId: "2" } });
    expect(found.at(-1)).toBe("fail the endpoints belong to different clusters");
  });
});
