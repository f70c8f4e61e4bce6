import { afterAll, beforeAll, describe } from "vitest";
import { fireLaws, overlapLaws } from "./fire-store/fire-laws.js";
import { guardLaws } from "./fire-store/guard-laws.js";
import { moveLaws, readLaws } from "./fire-store/move-laws.js";
import type { FireStoreUnderTest } from "./fire-store/under-test.js";

/** The contract of every fire store. Declares the tests; they share one store, and each makes its own jobs. */
export function fireStoreConformance(adapter: string, open: () => Promise<FireStoreUnderTest>): void {
  describe(`a fire store (${adapter})`, () => {
    let opened: FireStoreUnderTest | null = null;
    const store = (): FireStoreUnderTest => {
      if (opened === null) throw new Error("The store is not open yet.");
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
