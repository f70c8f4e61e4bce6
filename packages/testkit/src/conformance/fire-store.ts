import { afterAll, beforeAll, describe } from "vitest";
import { guardLaws } from "./fire-store/guard-laws.js";
import { fireLaws } from "./fire-store/fire-laws.js";
import { moveLaws } from "./fire-store/move-laws.js";
import { overlapLaws } from "./fire-store/overlap-laws.js";
import { readLaws } from "./fire-store/read-laws.js";
import type { FireStoreUnderTest } from "./fire-store/under-test.js";

/** What every store of the scheduler promises. Declares the tests; they share one store, and each makes jobs of its own. */
export function fireStoreConformance(adapter: string, open: () => Promise<FireStoreUnderTest>): void {
  describe(`a fire store (${adapter})`, () => {
    let opened: FireStoreUnderTest | null = null;
    const store = (): FireStoreUnderTest => {
      if (opened === null) throw new Error("the store is not open yet");
      return opened;
    };
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened?.close());

    readLaws(store);
    fireLaws(store);
    overlapLaws(store);
    moveLaws(store);
    guardLaws(store);
  });
}
