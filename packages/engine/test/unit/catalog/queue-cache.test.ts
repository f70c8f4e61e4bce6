import { expect, it } from "vitest";
import { QueueCache } from "../../../src/catalog/queues.js";
import type { KnownQueue } from "@carillon/store";

const queueOf = (revision: number): KnownQueue => {
  return { namespaceId: 1, name: `q${revision}`, order: { kind: "priority" }, isPaused: false, revision };
};

it("the queue cache finds a queue whose transaction committed late, although hundreds of queues changed since", async () => {
  const visible = Array.from({ length: 300 }, (_, index) => queueOf(index + 2));
  const newer = async (revision: number) => visible.filter((queue) => queue.revision > revision);
  const book = new QueueCache({ newer, ensure: async () => [] });
  await book.refresh();
  visible.push(queueOf(1));
  const { edition } = book;
  for (let look = 0; look < 60; look++) await book.refresh();
  expect(book.isKnown(1, "q1")).toBe(true);
  expect(book.edition).toBe(edition + 1);
});
