import type { Webhook } from "@carillon/contract";
import { AddressRules, closedAddress } from "@carillon/worker";
import { describe, expect, it } from "vitest";
import { apiUnderTest, refusalOf } from "./api-under-test.js";

const apiThatAllows = (...allow: string[]) => {
  const rules = new AddressRules(allow);
  return apiUnderTest({ refuseTarget: (url) => closedAddress(url, rules) });
};
const refused = { status: 422, code: "address_refused", faults: ["/url address_refused"] };

describe("webhook endpoints at private addresses", () => {
  it.each([
    "http://127.0.0.1:9000/hook",
    "http://127.1/hook",
    "http://2130706433/",
    "https://10.1.2.3/",
    "http://169.254.169.254/latest",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[fe80::1]/",
    "http://localhost/hook",
    "http://metadata.google.internal/",
  ])("refuses a new webhook endpoint at a private address: %s", async (url) => {
    const api = apiThatAllows();
    expect(refusalOf(await api.post("/v1/webhooks", { url }))).toEqual(refused);
    expect((await api.get("/v1/webhooks")).json<{ webhooks: Webhook[] }>().webhooks).toEqual([]);
  });

  it("refuses to move a webhook endpoint to a private address, and leaves it as it was", async () => {
    const api = apiThatAllows();
    const made = (await api.post("/v1/webhooks", { url: "https://example.com/hook" })).json<Webhook>();
    const change = await api.send("PATCH", `/v1/webhooks/${made.id}`, { url: "http://192.168.0.1/" });
    expect(refusalOf(change)).toEqual(refused);
    expect((await api.get(`/v1/webhooks/${made.id}`)).json<Webhook>()).toMatchObject({ url: made.url, version: 1 });
  });

  it("accepts a private webhook address on the allowlist", async () => {
    const made = await apiThatAllows("loopback").post("/v1/webhooks", { url: "http://127.0.0.1:9000/hook" });
    expect(made.statusCode).toBe(201);
    expect(refusalOf(await apiThatAllows("loopback").post("/v1/webhooks", { url: "http://10.0.0.1" }))).toEqual(
      refused,
    );
  });

  it("a webhook address with a host name is checked when it is called", async () => {
    expect((await apiThatAllows().post("/v1/webhooks", { url: "http://intranet/hook" })).statusCode).toBe(201);
  });
});
