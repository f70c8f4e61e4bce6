import { ManualClock } from "@carillon/core";
import type { SlotOffer } from "@carillon/store";
import { describe, expect, it } from "vitest";
import { SlotOffers } from "../../../src/enqueue/direct-insert.js";

const lane = { lane: 7, namespaceId: 1 };
const offer = (over: Partial<SlotOffer> = {}): SlotOffer => ({
  ...lane,
  gatewayId: "a",
  sessionId: "s",
  limitsRevision: 0,
  token: "t",
  count: 5,
  ...over,
});

const setUp = () => {
  const clock = new ManualClock();
  return { clock, offers: new SlotOffers(() => clock.monotonic()) };
};

describe("SlotOffers", () => {
  it("an offer is for one lane of one namespace", () => {
    const { offers } = setUp();
    const made = offer();
    offers.put(made);
    expect(offers.find({ lane: 8, namespaceId: 1 }, 1)).toBeNull();
    expect(offers.find({ lane: 7, namespaceId: 2 }, 1)).toBeNull();
    expect(offers.find(lane, 1)).toBe(made);
  });

  it("an offer lasts a second, unless the gateway repeats it", () => {
    const { clock, offers } = setUp();
    const [first, again] = [offer(), offer()];
    offers.put(first);
    clock.advance(999);
    expect(offers.find(lane, 1)).toBe(first);
    offers.put(again);
    clock.advance(999);
    expect(offers.find(lane, 1)).toBe(again);
    clock.advance(1);
    expect(offers.find(lane, 1)).toBeNull();
  });

  it("an offer replaces the earlier offer of its gateway for the lane, and no other", () => {
    const { offers } = setUp();
    const [first, second, other] = [offer({ count: 9 }), offer({ count: 2 }), offer({ gatewayId: "b", count: 3 })];
    for (const one of [first, other, second]) offers.put(one);
    expect(offers.find(lane, 1)).toBe(other);
    expect(offers.find(lane, 4)).toBeNull();
    offers.refused(other);
    expect(offers.find(lane, 1)).toBe(second);
  });

  it("the offer with the most slots left is found, also when another had more at first", () => {
    const { offers } = setUp();
    const [many, few] = [offer({ count: 5 }), offer({ gatewayId: "b", count: 4 })];
    offers.put(few);
    offers.put(many);
    expect(offers.find(lane, 1)).toBe(many);
    offers.use(many, 2);
    expect(offers.find(lane, 1)).toBe(few);
  });

  it("this node's own offer is preferred, also when others have more slots", () => {
    const { clock, offers } = setUp();
    const [many, own] = [offer({ gatewayId: "b", count: 9 }), offer({ gatewayId: "own", count: 2 })];
    for (const one of [many, own, offer({ gatewayId: "c", count: 5 })]) offers.put(one);
    expect(offers.find(lane, 2, "own")).toBe(own);
    expect(offers.find(lane, 2)).toBe(many);
    expect(offers.find(lane, 2, "another")).toBe(many);
    expect(offers.find(lane, 3, "own")).toBe(many);
    offers.use(own, 1);
    expect(offers.find(lane, 2, "own")).toBe(many);
    expect(offers.find(lane, 1, "own")).toBe(own);
    clock.advance(999);
    offers.put(offer({ gatewayId: "b", count: 9 }));
    clock.advance(1);
    expect(offers.find(lane, 1, "own")?.gatewayId).toBe("b");
  });

  it("each offer numbers its own uses", () => {
    const { offers } = setUp();
    const [first, second, other] = [offer(), offer(), offer({ gatewayId: "b" })];
    offers.put(first);
    offers.put(other);
    expect([offers.nextUse(first), offers.nextUse(first)]).toEqual([1, 1]);
    offers.use(first, 1);
    offers.use(first, 2);
    expect([offers.nextUse(first), offers.nextUse(other)]).toEqual([3, 1]);
    offers.put(second);
    offers.use(first, 1);
    expect(offers.nextUse(second)).toBe(1);
    offers.use(second, 1);
    expect(offers.nextUse(second)).toBe(2);
  });

  it("no offer is found for more runs than it has slots left, and an empty offer is dropped", () => {
    const { offers } = setUp();
    const made = offer({ count: 3 });
    offers.put(made);
    expect(offers.find(lane, 4)).toBeNull();
    expect(offers.find(lane, 3)).toBe(made);
    offers.use(made, 2);
    expect(offers.find(lane, 2)).toBeNull();
    expect(offers.find(lane, 1)).toBe(made);
    offers.use(made, 1);
    expect(offers.find(lane, 1)).toBeNull();
  });

  it("a use of a replaced offer does not reduce the new one", () => {
    const { offers } = setUp();
    const [before, now] = [offer({ count: 3 }), offer({ count: 3 })];
    offers.put(before);
    offers.put(now);
    offers.use(before, 3);
    expect(offers.find(lane, 3)).toBe(now);
  });

  it("an offer of no slots withdraws the earlier offer of its gateway, and no other", () => {
    const { offers } = setUp();
    const other = offer({ gatewayId: "b", count: 1 });
    offers.put(offer());
    offers.put(other);
    offers.put(offer({ count: 0 }));
    expect(offers.find(lane, 1)).toBe(other);
    offers.put(offer({ gatewayId: "b", count: 0 }));
    expect(offers.find(lane, 1)).toBeNull();
  });

  it("a refused offer is dropped, however many slots it has left", () => {
    const { offers } = setUp();
    const made = offer();
    offers.put(made);
    offers.refused(made);
    expect(offers.find(lane, 1)).toBeNull();
  });
});
