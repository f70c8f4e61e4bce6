import { type LedgerReason, ledgerReasons } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JobView, OccurrenceView, Page, PageRequest } from "../../../../src/index.js";
import { actor, type ChangeHarness, changeHarness, period, spec } from "../../../harness/change-harness.js";
import { newId } from "../../../harness/store-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

/** Every row of a list, page by page. `between` happens before each page but the first. */
async function readAll<Row>(
  read: (page: PageRequest) => Promise<Page<Row>>,
  pageSize: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page: PageRequest = { pageSize }; ; await between()) {
    const { rows: some, next } = await read(page);
    expect(some.length).toBeLessThanOrEqual(pageSize);
    rows.push(...some);
    if (next === null) return rows;
    page = { pageSize, after: next };
  }
}

interface Entry {
  readonly reason: LedgerReason;
  readonly from: number;
  readonly version?: number;
}

async function note(jobId: string, { reason, from, version = 1 }: Entry): Promise<void> {
  const entry = { jobId, namespaceId: 1, version, reason, from, to: from + period, count: 2, detail: null };
  await h.store.historyTransaction((tx) => h.store.unitOfWork.writes.note(tx, [entry]));
}

describe("the ledger of a job", () => {
  const ledgerOf = (id: string) => (page: PageRequest) => h.engine.jobs.occurrences("default", { id }, page);
  const placeOf = ({ from, version, reason }: OccurrenceView): string => `${from} ${version} ${reason}`;

  it("lists every reason of the ledger as a range with its count, newest first", async () => {
    const { id } = await h.engine.jobs.create("default", spec());
    for (const [n, reason] of ledgerReasons.entries()) await note(id, { reason, from: h.last + n * period });
    const { rows, next } = await h.engine.jobs.occurrences("default", { id }, { pageSize: 100 });
    expect(next).toBeNull();
    expect(rows).toEqual(
      ledgerReasons
        .map((reason, n) => {
          const from = h.last + n * period;
          return { version: 1, reason, from, to: from + period, count: 2, detail: null };
        })
        .toReversed(),
    );
  });

  it.each([1, 2, 3, 7])(
    "lists each range of the ledger once in pages of %i, also ranges that begin at one instant",
    async (pageSize) => {
      const { id } = await h.engine.jobs.create("default", spec());
      for (const from of [h.last, h.last + period])
        for (const version of [1, 2, 10])
          for (const reason of ["missed", "overlap", "paused"] as const) await note(id, { reason, from, version });
      const all = await readAll(ledgerOf(id), pageSize);
      expect(all).toHaveLength(18);
      expect(new Set(all.map(placeOf)).size).toBe(18);
      const begins = all.map((row) => row.from);
      expect(begins).toEqual(begins.toSorted((a, b) => b - a));
    },
  );

  it("keeps the order of the ledger's pages while entries are added and ranges grow", async () => {
    const { id } = await h.engine.jobs.create("default", spec());
    for (let n = 0; n < 6; n += 1) await note(id, { reason: "missed", from: h.last + n * period });
    let later = 10;
    const all = await readAll(ledgerOf(id), 2, async () => {
      await note(id, { reason: "missed", from: h.last + ++later * period });
      await note(id, { reason: "missed", from: h.last });
    });
    expect(all.map((row) => (row.from - h.last) / period)).toEqual([5, 4, 3, 2, 1, 0]);
    expect(all.at(-1)?.count).toBe(6);
  });

  it("lists the ledger of one job, and refuses the page token of another list", async () => {
    const [one, other] = [await h.recurring({}, 3), await h.engine.jobs.create("default", spec())];
    await h.engine.jobs.edit("default", { id: one }, (job) => ({ ...job, payload: 2 }), actor);
    expect((await ledgerOf(one)({ pageSize: 10 })).rows).toMatchObject([{ reason: "missed", count: 3 }]);
    expect((await ledgerOf(other.id)({ pageSize: 10 })).rows).toEqual([]);
    for (const after of ["7", "x.1.missed", "1.x.missed", "1.1.unknown", ""])
      await expect(ledgerOf(one)({ pageSize: 10, after })).rejects.toMatchObject({ code: "page_token_invalid" });
    await expect(h.engine.jobs.versions("default", { id: one }, { pageSize: 1, after: "x" })).rejects.toMatchObject({
      code: "page_token_invalid",
    });
  });
});

describe("the list of jobs", () => {
  it("lists every job once in pages, also jobs that change while the pages are read", async () => {
    const owner = newId();
    const made: JobView[] = [];
    for (let n = 0; n < 12; n += 1) {
      const at = h.last + (n % 2 === 0 ? 60_000 : 100 * period);
      const one = n % 3 === 0 ? spec({ owner }) : spec({ owner, schedule: { kind: "at", at } });
      made.push(await h.engine.jobs.create("default", one));
    }
    const list = (page: PageRequest) => h.engine.jobs.list("default", { owner }, page);
    const newest = made.map((job) => job.id).toReversed();
    expect((await readAll(list, 5)).map((job) => job.id)).toEqual(newest);
    // The oldest that was not shown yet becomes a stored job, and a new one is made: neither is shown twice or left out.
    const left = [...made];
    const seen = await readAll(list, 2, async () => {
      const oldest = left.shift();
      if (oldest === undefined) return;
      await h.engine.jobs.edit("default", { id: oldest.id }, (job) => ({ ...job, payload: "changed" }), actor);
      await h.engine.jobs.create("default", spec({ owner }));
    });
    expect(seen.map((job) => job.id)).toEqual(newest);
  });
});
