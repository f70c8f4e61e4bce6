import { parseLabelSelector } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  HistoryDays,
  maxScanned,
  type Queryable,
  type RunListFilter,
  type RunSearch,
  runSearch,
  type SqlText,
} from "@carillon/store";
import { loadStatements } from "../../../src/index.js";
import { fillHistory, searchCount } from "../../harness/search-history.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Actual Loops"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

let h: StoreHarness;
let ids: string[];
const now = Date.now();

beforeAll(async () => {
  h = await storeHarness();
  ids = await fillHistory(h, now);
});
afterAll(() => h.close());

function all(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(all)];
}

/** The rows of history that a plan node has read, over all of its loops. */
function looked(node: PlanNode): number {
  if (node["Relation Name"]?.startsWith("run_history") !== true) return 0;
  const each = (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0);
  return each * (node["Actual Loops"] ?? 1);
}

/** A database that records how many rows of history each statement read, and how many it numbered. */
function watched(counts: number[], numbered: number[]): Queryable {
  return {
    async query<Row extends object>(statement: SqlText, values?: readonly unknown[]) {
      if (!statement.text.startsWith("explain")) {
        const text = `explain (analyze, format json) ${statement.text}`;
        const { rows } = await h.db.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>({ text }, values);
        const nodes = rows.flatMap((row) => row["QUERY PLAN"].flatMap(({ Plan }) => all(Plan)));
        counts.push(nodes.reduce((sum, node) => sum + looked(node), 0));
        const windows = nodes.filter((node) => node["Node Type"] === "WindowAgg");
        numbered.push(...windows.map((node) => node["Actual Rows"] ?? 0));
      }
      return h.db.query<Row>(statement, values);
    },
  };
}

function searchOver(counts: number[], numbered: number[] = []): RunSearch {
  const statements = loadStatements("carillon");
  const clock = { now: () => Date.now() };
  const days = new HistoryDays({ db: h.db, statements, schema: "carillon", ...clock });
  return runSearch({ db: watched(counts, numbered), statements, days, ...clock });
}

const first = { after: null, limit: 51 } as const;

describe("plans of a search over finished runs", () => {
  it.each<[string, Omit<RunListFilter, "oneOffOnly">]>([
    ["nothing", {}],
    ["task", { task: "rare" }],
    ["a task without runs", { task: "absent" }],
    ["queue", { queue: "rare" }],
    ["owner", { owner: "o57" }],
    ["status", { status: ["failed"] }],
    ["statuses", { status: ["cancelled", "skipped"] }],
    ["status that most have", { status: ["succeeded"], trigger: "schedule" }],
    ["job", { jobId: "01890000-0000-7000-8000-000000000001" }],
    ["trigger", { trigger: "run_now" }],
    ["a trigger that nothing had", { trigger: "schedule" }],
    ["label", { labels: parseLabelSelector("n=56") }],
    ["a label that most have, and what never meets it", { labels: parseLabelSelector("kind=a"), trigger: "schedule" }],
    ["a label's absence", { labels: parseLabelSelector("!kind,!n"), trigger: "schedule" }],
    ["time", { createdFrom: now - 5_000 }],
    ["an old time", { createdBefore: now - searchCount * 1_000 }],
    ["all of these", { task: "echo", owner: "o57", labels: parseLabelSelector("kind=a"), status: ["succeeded"] }],
  ])("a search by %s reads a bounded number of rows in either order", async (_, filter) => {
    for (const direction of ["newest_first", "oldest_first"] as const) {
      const counts: number[] = [];
      const search = searchOver(counts);
      await search.finished(1, { ...filter, oneOffOnly: false }, { ...first, direction });
      expect(counts.length).toBeGreaterThan(0);
      expect(Math.max(...counts)).toBeLessThanOrEqual(maxScanned + first.limit);
    }
  });

  it.each<[string, Omit<RunListFilter, "oneOffOnly">]>([
    ["nothing", {}],
    ["a common task", { task: "echo" }],
    ["a common status", { status: ["succeeded"] }],
  ])("a full page of a search by %s reads few more rows than it shows, in either order", async (_, filter) => {
    for (const direction of ["newest_first", "oldest_first"] as const) {
      const counts: number[] = [];
      const search = searchOver(counts);
      await search.finished(1, { ...filter, oneOffOnly: false }, { ...first, direction });
      expect(Math.max(...counts)).toBeLessThan(3 * first.limit);
    }
  });

  it("a search by job reads only the rows of the job", async () => {
    const counts: number[] = [];
    const search = searchOver(counts);
    const filter = { jobId: ids[50] ?? "", oneOffOnly: false };
    const { rows } = await search.finished(1, filter, { ...first, direction: "newest_first" });
    expect([rows.length, Math.max(...counts)]).toEqual([5, 5]);
  });

  it("a search by worker reads a bounded number of rows and numbers none of them", async () => {
    const counts: number[] = [];
    const numbered: number[] = [];
    const search = searchOver(counts, numbered);
    const filter = { workerId: ids[100] ?? "", oneOffOnly: false };
    await search.finished(1, filter, { ...first, direction: "newest_first" });
    expect(Math.max(...counts)).toBeLessThanOrEqual(maxScanned + first.limit);
    expect(Math.max(0, ...numbered)).toBe(0);
  });
});
