import { compileSchedule } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { namedCalendars } from "./draw/calendars.js";
import { quietYear, usualYear } from "./draw/plan.js";
import { dayMs, hourMs, yearEnd, yearStart } from "./draw/year.js";
import type { Law } from "./oracle/complaint.js";
import { judgeYear, type Verdict } from "./oracle/judge-year.js";
import { liveAYear, type YearOptions } from "./world/live-a-year.js";
import type { FireRow } from "@carillon/store";

/** Three months of a few jobs are enough to see a law broken. */
async function verdictOf(options: Partial<YearOptions>): Promise<Verdict> {
  const endsAt = yearStart + 90 * dayMs;
  return judgeYear(await liveAYear({ seed: 7, jobs: 100, incidents: usualYear, endsAt, ...options }));
}

/** Every so often. */
const each = (nth: number): (() => boolean) => {
  let count = 0;
  return () => ++count % nth === 0;
};

interface Mutant {
  readonly name: string;
  /** What the judge has to say, among other things. */
  readonly law: Law;
  readonly broken: Partial<YearOptions> & Pick<Required<YearOptions>, "around">;
}

const mutants: readonly Mutant[] = [
  {
    name: "loses a run",
    law: "lost",
    broken: {
      around: (store, tables) => {
        const isTurn = each(20);
        const drop = (id: string | undefined): void => {
          if (id !== undefined && isTurn()) tables.runs.set(id, undefined);
        };
        return {
          ...store,
          async fire(...args) {
            const fired = await store.fire(...args);
            for (const { run } of fired) drop(run?.id);
            return fired;
          },
        };
      },
    },
  },
  {
    name: "makes a run twice",
    law: "doubled",
    broken: {
      around: (store, tables) => {
        const isTurn = each(20);
        return {
          ...store,
          async fire(...args) {
            const fired = await store.fire(...args);
            for (const { run } of fired) {
              const made = tables.runs.get(run?.id ?? "");
              if (made !== undefined && isTurn())
                tables.runs.set(`${made.id} again`, { ...made, id: `${made.id} again` });
            }
            return fired;
          },
        };
      },
    },
  },
  {
    name: "moves a job on and forgets the entry in the ledger",
    law: "lost",
    broken: {
      around: (store, tables) => ({
        ...store,
        async pass(terms, rows) {
          const before = new Set(tables.ledger.values());
          const passed = await store.pass(terms, rows);
          for (const range of tables.ledger.values()) {
            const key = `${range.jobId} ${range.version} ${range.reason} ${range.from}`;
            if (!before.has(range)) tables.ledger.set(key, undefined);
          }
          return passed;
        },
      }),
    },
  },
  {
    name: "compares no time, for nodes whose clocks are ahead",
    law: "early",
    broken: {
      skewMs: hourMs,
      around: (store, tables) => ({
        ...store,
        fire(terms, rows) {
          for (const { job } of rows) {
            const stored = tables.jobs.get(job.jobId);
            const fireAt = stored?.due.fireAt ?? null;
            if (stored !== undefined && fireAt !== null && fireAt > tables.now())
              tables.move(stored, { fireAt: tables.now() });
          }
          return store.fire(terms, rows);
        },
        pass: ({ fence, windows }, rows) => store.pass({ fence, windows }, rows),
        hold: ({ fence, windows }, rows) => store.hold({ fence, windows }, rows),
      }),
    },
  },
  {
    name: "goes on to the occurrence after the next",
    law: "lost",
    broken: {
      around: (store) => {
        const isTurn = each(20);
        return {
          ...store,
          fire: (terms, rows) =>
            store.fire(
              terms,
              rows.map((row) => (isTurn() ? skipOne(row) : row)),
            ),
        };
      },
    },
  },
  {
    name: "counts one too many",
    law: "count",
    broken: {
      around: (store) => ({
        ...store,
        pass: (terms, rows) =>
          store.pass(
            terms,
            rows.map((row) => ({ ...row, range: { ...row.range, count: row.range.count + 1 } })),
          ),
      }),
    },
  },
  {
    name: "fires and moves on in two steps, of which the second is lost",
    law: "doubled",
    broken: {
      around: (store, tables) => {
        const isTurn = each(20);
        return {
          ...store,
          async fire(terms, rows) {
            const before = rows.map(({ job }) => tables.jobs.get(job.jobId));
            const fired = await store.fire(terms, rows);
            for (const job of before) if (job !== undefined && isTurn()) tables.jobs.set(job.id, job);
            return fired;
          },
        };
      },
    },
  },
  {
    name: "does not note what calendars take away",
    law: "calendar",
    broken: {
      // What a change of a job passes over has other names in the ledger.
      incidents: quietYear,
      endsAt: yearEnd,
      around: (store) => {
        const silent = <Row extends object>(rows: readonly Row[]): Row[] => rows.map((row) => ({ ...row, notes: [] }));
        return {
          ...store,
          fire: (terms, rows) => store.fire(terms, silent(rows)),
          settle: (terms, rows) => store.settle(terms, silent(rows)),
          pass: (terms, rows) => store.pass(terms, silent(rows)),
        };
      },
    },
  },
  {
    name: "fires although the windows have changed",
    law: "window",
    broken: {
      around: (store, tables) => {
        const present = <Terms extends object>(terms: Terms): Terms => ({ ...terms, windows: tables.windows.revision });
        const first = store.windows();
        return {
          ...store,
          windows: () => first,
          fire: (terms, rows) => store.fire(present(terms), rows),
          settle: (terms, rows) => store.settle(present(terms), rows),
          pass: (terms, rows) => store.pass(present(terms), rows),
          hold: (terms, rows) => store.hold(present(terms), rows),
        };
      },
    },
  },
];

function skipOne(row: FireRow): FireRow {
  const { jobId, definition } = row.job;
  const schedule = compileSchedule(definition.schedule, { jobId, calendars: namedCalendars.calendarsOf(1) });
  const after = row.next === null ? -1 : schedule.nextNominal(row.next.nominal);
  return after === -1 ? row : { ...row, next: { nominal: after, fireAt: after + schedule.jitterAt(after) } };
}

describe("the judge of the simulated year", () => {
  it("the judge has no complaint about the product", async () => {
    const verdict = await verdictOf({});
    expect(verdict.report).toBe("");
  });

  it.each(mutants)("the judge complains about a store that $name", async ({ law, broken }) => {
    const { complaints, report } = await verdictOf(broken);
    expect(complaints.map((one) => one.law)).toContain(law);
    expect(report).toMatch(/^CARILLON_PROPERTY_SEED=7: \d+ complaints about \d+ jobs\n {2}\w+ at \d{4}-/);
    expect(report).toMatch(/job 00000000-0000-7000-8001-\w{12} .*"kind":"(cron|every|at)"/);
  });
});
