import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { EtcdClient, type Fetch } from "../../../src/cluster/etcd/etcd-client.js";

const answer = (status: number, body: unknown) => ({
  ok: status < 400,
  status,
  text: async () => JSON.stringify(body),
});
const granted = answer(200, { ID: "7", TTL: "3" });

function client(fetch: Fetch, clock = new ManualClock()): EtcdClient {
  return new EtcdClient({ endpoints: ["http://a", "http://b"], fetch, timers: clock, timeoutMs: 1_000 });
}

describe("the etcd client", () => {
  it("tries the next endpoint when one fails or has no leader, and stays with the one that responds", async () => {
    const asked: string[] = [];
    const etcd = client(async (url) => {
      asked.push(url);
      return url.startsWith("http://a") ? answer(503, { error: "no leader" }) : granted;
    });
    expect(await etcd.grant(2_500)).toBe("7");
    expect(await etcd.grant(2_500)).toBe("7");
    expect(asked.map((url) => url[7])).toEqual(["a", "b", "b"]);
  });

  it("fails with etcd_unavailable when no endpoint responds", async () => {
    const etcd = client(() => Promise.reject(new TypeError("fetch failed")));
    await expect(etcd.grant(3_000)).rejects.toMatchObject({ code: "etcd_unavailable" });
  });

  it("does not repeat a refused request at another endpoint", async () => {
    let asked = 0;
    const etcd = client(async () => {
      asked++;
      return answer(400, { error: "too many operations" });
    });
    await expect(etcd.grant(3_000)).rejects.toMatchObject({ code: "etcd_refused" });
    expect(asked).toBe(1);
  });

  it("abandons an endpoint that does not respond in time", async () => {
    const clock = new ManualClock();
    const etcd = client((url, { signal }) => {
      if (url.startsWith("http://b")) return Promise.resolve(granted);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    }, clock);
    const lease = etcd.grant(3_000);
    clock.advance(1_000);
    expect(await lease).toBe("7");
    expect(clock.pending).toBe(0);
  });

  it("requests whole seconds, rounded up, and detects an ended lease by its missing time", async () => {
    const bodies: unknown[] = [];
    const etcd = client(async (_, { body }) => {
      bodies.push(JSON.parse(body));
      return answer(200, { ID: "7", result: { ID: "7" } });
    });
    await etcd.grant(2_100);
    expect(await etcd.keepAlive("7")).toBe(false);
    expect(bodies).toEqual([{ TTL: "3" }, { ID: "7" }]);
  });
});
