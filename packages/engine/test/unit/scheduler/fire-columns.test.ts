import { defaultFiringPolicy } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fireColumns, type FireRow } from "@carillon/store";

const start = Date.UTC(2026, 5, 1, 12);
const few = fc.constantFrom(0, 1, 2);
const instant = few.map((nth) => start + nth * 60_000);

const row: fc.Arbitrary<FireRow> = fc
  .record({
    version: few,
    nominal: instant,
    runsMade: few,
    next: fc.option(fc.record({ nominal: instant, fireAt: instant })),
    catchUpTo: fc.option(instant),
    rank: few,
  })
  .map(({ version, nominal, runsMade, ...step }) => ({
    job: {
      jobId: "",
      shard: 0,
      class: 1,
      state: "active",
      version,
      nominal,
      fireAt: nominal,
      settledTo: 0,
      catchUpTo: null,
      runsMade,
      definition: {
        namespaceId: 1,
        schedule: { kind: "manual" },
        firing: defaultFiringPolicy,
        priority: 4,
        task: "echo",
        queue: "default",
        labels: {},
      },
    },
    ...step,
    runId: "",
    notes: [],
  }));

const idOf = (kind: string, nth: number): string => `${kind}0000000-0000-7000-8000-${String(nth).padStart(12, "0")}`;

const rows = fc
  .array(row, { maxLength: 40 })
  .map((list) =>
    list.map((one, nth) => ({ ...one, job: { ...one.job, jobId: idOf("a", nth) }, runId: idOf("b", nth) })),
  );

/** The ids of a binary array: after a header of 20 bytes each has its length and its 16 bytes. */
function idsOf(column: Buffer): string[] {
  const count = Math.floor((column.length - 20) / 20);
  return Array.from({ length: Math.max(0, count) }, (_, nth) => {
    const digits = column.subarray(20 + nth * 20 + 4, 40 + nth * 20).toString("hex");
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  });
}

const valuesOf = (column: string): string[] => (column === "{}" ? [] : column.slice(1, -1).split(","));
const textOf = (at: number | undefined): string => (at === undefined ? "NULL" : new Date(at).toISOString());

/** Each job with its values, as due.fire reads the columns. */
function readBack({
  jobIds,
  runIds,
  firsts,
  lasts,
  ...columns
}: ReturnType<typeof fireColumns>): Map<string, string[]> {
  const { versions, nominals, runsMade, nextNominals, nextFires, catchUpTo, ranks } = columns;
  const shared = [versions, nominals, runsMade, nextNominals, nextFires, catchUpTo, ranks].map(valuesOf);
  const [jobs, runs, ends] = [idsOf(jobIds), idsOf(runIds), valuesOf(lasts)];
  const read = new Map<string, string[]>();
  for (const [group, first] of valuesOf(firsts).entries()) {
    for (let at = Number(first); at <= Number(ends[group]); at += 1) {
      const job = jobs[at - 1] ?? "";
      expect(read.has(job)).toBe(false);
      read.set(job, [runs[at - 1] ?? "", ...shared.map((column) => column[group] ?? "")]);
    }
  }
  return read;
}

describe("the columns of a fire", () => {
  it("contain the values of each row once", () => {
    fc.assert(
      fc.property(rows, (list) => {
        const expected = list.map(({ job, runId, next, catchUpTo, rank }): [string, string[]] => [
          job.jobId,
          [
            runId,
            String(job.version),
            textOf(job.nominal),
            String(job.runsMade),
            textOf(next?.nominal),
            textOf(next?.fireAt),
            textOf(catchUpTo ?? undefined),
            String(rank),
          ],
        ]);
        const read = readBack(fireColumns(list));
        expect(read.size).toBe(list.length);
        for (const [jobId, values] of expected) expect(read.get(jobId)).toEqual(values);
      }),
    );
  });

  it("contain a value that a herd shares once", () => {
    const [one] = fc.sample(row, { numRuns: 1, seed: 1 });
    if (one === undefined) throw new Error("fast-check made no row");
    const herd = Array.from({ length: 2_000 }, (_, nth) => ({
      ...one,
      job: { ...one.job, jobId: idOf("a", nth) },
      runId: idOf("b", nth),
    }));
    const { firsts, lasts } = fireColumns(herd);
    expect([firsts, lasts]).toEqual(["{1}", "{2000}"]);
  });
});
