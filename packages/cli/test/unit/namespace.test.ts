import type { Namespace } from "@carillon/contract";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const server = "http://127.0.0.1:8023/v1";
const at = "2030-01-01T00:00:00.000Z";
const namespace = (over: Partial<Namespace> = {}): Namespace => {
  return {
    name: "billing",
    weight: 1,
    concurrency: null,
    rate_limit: null,
    version: 1,
    created_at: at,
    updated_at: at,
    ...over,
  };
};

describe("carillon namespace", () => {
  it("namespace list prints weights", async () => {
    serve({ namespaces: [namespace(), namespace({ name: "mail", weight: 3 })], next_page_token: null });
    const io = fakeIo();
    expect(await runCli(["namespace", "list"], io)).toBe(0);
    expect(io.written()).toMatch(/mail +3/);
  });

  it("namespace create creates a namespace", async () => {
    const calls = serve(namespace({ weight: 3 }));
    expect(await runCli(["namespace", "create", "billing", "--weight", "3"], fakeIo())).toBe(0);
    expect(calls[0]).toMatchObject({ method: "POST", url: `${server}/namespaces` });
    expect(calls[0]?.body).toEqual({ name: "billing", weight: 3 });
  });

  it("namespace update changes a weight and prints the undo", async () => {
    const calls = serve(namespace({ weight: 2 }), namespace({ weight: 5 }));
    const io = fakeIo();
    expect(await runCli(["namespace", "update", "billing", "--weight", "5"], io)).toBe(0);
    expect(calls[1]).toMatchObject({ method: "PATCH", url: `${server}/namespaces/billing`, body: { weight: 5 } });
    expect(io.said.join()).toContain("carillon namespace update billing --weight 2");
  });

  it("namespace commands refuse invalid arguments with exit code 2", async () => {
    serve();
    expect(await runCli(["namespace", "update", "billing"], fakeIo())).toBe(2);
    expect(await runCli(["namespace", "create", "billing", "--weight", "0"], fakeIo())).toBe(2);
    expect(await runCli(["queue", "list", "--namespace", "No Name"], fakeIo())).toBe(2);
  });
});
