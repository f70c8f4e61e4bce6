import { afterEach, beforeEach, expect, it } from "vitest";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import type { ClaimStore } from "@carillon/store";
import { EagerWorker } from "../../harness/eager-worker.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let gateway: Gateway;
let openGate = (): void => undefined;
let isGated = false;
beforeEach(async () => {
  h = await storeHarness();
  const gate = new Promise<void>((resolve) => (openGate = resolve));
  const claims: ClaimStore = {
    ...h.store.claims,
    async completeAndClaim(request) {
      if (isGated) await gate;
      return h.store.claims.completeAndClaim(request);
    },
  };
  ({ gateway } = gatewayOver(h, { store: { claims } }));
});
afterEach(() => {
  gateway.stop();
  return h.close();
});

it("a worker is assigned nothing more once its cordon is confirmed, including claims that were under way [INV-6]", async () => {
  isGated = true;
  const cordoned = await EagerWorker.over(gateway);
  const said = gateway.sessions.requestState(cordoned.session, "cordoned").then(() => [...cordoned.ids]);
  const first = await h.run();
  isGated = false;
  openGate();
  expect(await said).toEqual([first]);
  const second = await h.run();
  gateway.hintAll();
  const other = await EagerWorker.over(gateway);
  await other.until(1);
  expect([cordoned.ids, other.ids]).toEqual([[first], [second]]);
});
