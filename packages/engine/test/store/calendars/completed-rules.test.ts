import type { CalendarDefinition, EverySchedule, Instant } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChangeHarness, actor, changeHarness, period, setDue, spec } from "../../harness/change-harness.js";

// Calendars remove the last instants of these rules, or all of them, so that no later occurrence adds those instants to the ledger.

const day = 86_400_000;

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

/** Holds the days from..to after today, in UTC. */
function days(name: string, from: number, to: number): CalendarDefinition {
  const today = Math.floor(h.last / day);
  return { name, rules: [{ kind: "dates", ranges: [{ from: today + from, to: today + to }], yearly: [] }] };
}

const put = async (definition: CalendarDefinition): Promise<void> =>
  void (await h.engine.calendars.put("default", definition, actor));

/** Every hour, with 48 instants to come. */
function bounded(exclude?: string): EverySchedule {
  const rule: EverySchedule = { kind: "every", everyMs: period, anchor: h.last - 1_000 * period };
  return { ...rule, endsAt: h.last + 48 * period, ...(exclude !== undefined && { calendars: { exclude: [exclude] } }) };
}

/** Creates a job whose calendar removes all its instants. */
async function emptied(name: string): Promise<string> {
  await put(days(name, -10, 10));
  return (await h.engine.jobs.create("default", spec({ schedule: bounded(name) }))).id;
}

/** Makes the job 20 hours older, so that 20 of its removed instants are past. */
async function age(id: string): Promise<void> {
  const text = `update carillon.occurrence set from_at = from_at - interval '20 hours', count = count + 20 where job_id = $1`;
  await h.select(text, id);
  await h.select("update carillon.job set created_at = created_at - interval '20 hours' where id = $1", id);
}

const entry = (version: number, from: Instant, to: Instant): object => ({
  version,
  reason: "calendar",
  from_at: from,
  to_at: to,
  count: (to - from) / period + 1,
});
/** All 48 instants to come. */
const all = (version: number): object => entry(version, h.last + period, h.last + 48 * period);
/** The 20 instants of an aged job that are past. */
const past = (): object => entry(1, h.last - 19 * period, h.last);
const state = async (id: string): Promise<string | undefined> => (await h.engine.jobs.get("default", { id }))?.state;

describe("a job whose calendar removes every instant of its rule", () => {
  it("is completed at creation, with all instants in the ledger [INV-11]", async () => {
    const id = await emptied("created");
    expect(await state(id)).toBe("completed");
    expect(await h.ledger(id)).toEqual([all(1)]);
  });

  it("has its entries in the ledger when it is created among others, and none if its key is taken [INV-11]", async () => {
    await put(days("batch", -10, 10));
    const specs = [
      spec({ key: "batch-1", schedule: bounded("batch") }),
      spec({ schedule: bounded() }),
      spec({ key: "batch-1", schedule: bounded("batch") }),
    ];
    const before = Number((await h.select("select count(*)::int as count from carillon.occurrence"))[0]?.["count"]);
    const [first, , second] = await h.engine.jobs.createMany("default", specs);
    expect(second).toMatchObject({ error: { code: "key_taken" } });
    expect(await h.ledger(first !== undefined && "id" in first ? first.id : "")).toEqual([all(1)]);
    const after = Number((await h.select("select count(*)::int as count from carillon.occurrence"))[0]?.["count"]);
    expect(after - before).toBe(1);
  });

  it("keeps the instants up to the change in the ledger when its rule is replaced [INV-11]", async () => {
    const young = await emptied("young");
    await h.engine.jobs.edit("default", { id: young }, (job) => ({ ...job, schedule: bounded() }), actor);
    expect([await state(young), await h.ledger(young)]).toEqual(["active", []]);

    const old = await emptied("old");
    await age(old);
    await h.engine.jobs.edit("default", { id: old }, (job) => ({ ...job, schedule: bounded() }), actor);
    expect([await state(old), await h.ledger(old)]).toEqual(["active", [past()]]);

    const cancelled = await emptied("cancelled");
    await age(cancelled);
    await h.engine.jobs.cancel("default", { id: cancelled }, { running: "keep" }, actor);
    expect(await h.ledger(cancelled)).toEqual([past()]);
  });

  it("keeps all instants in the ledger when an edit leaves its rule as it is [INV-11]", async () => {
    const id = await emptied("renamed");
    await h.engine.jobs.edit("default", { id }, (job) => ({ ...job, payload: "new" }), actor);
    expect([await state(id), await h.ledger(id)]).toEqual(["completed", [all(1)]]);
  });

  it("keeps the instants up to now in the ledger when a new version of its calendar opens days [INV-11]", async () => {
    const id = await emptied("opened");
    await age(id);
    await put(days("opened", -10, -9));
    expect([await state(id), await h.ledger(id)]).toEqual(["active", [past()]]);
    expect(await h.due(id)).toMatchObject({ fired_through: h.last, next_nominal_at: h.last + period });
  });

  it("has each instant in the ledger once when a new version of its calendar removes them too [INV-11]", async () => {
    const id = await emptied("still");
    await age(id);
    await put(days("still", -11, 11));
    expect([await state(id), await h.ledger(id)]).toEqual(["completed", [past(), all(2)]]);
    await put(days("still", -12, 12));
    expect(await h.ledger(id)).toEqual([past(), all(3)]);
  });
});

describe("a job that is active", () => {
  it("is completed when a calendar removes every later instant of its new rule, with all of them in the ledger [INV-11]", async () => {
    await put(days("edited", -10, 10));
    const { id } = await h.engine.jobs.create("default", spec({ schedule: bounded() }));
    await h.engine.jobs.edit("default", { id }, (job) => ({ ...job, schedule: bounded("edited") }), actor);
    expect([await state(id), await h.ledger(id)]).toEqual(["completed", [all(2)]]);
  });

  it("is completed when a new version of its calendar removes every later instant, with all of them in the ledger [INV-11]", async () => {
    await put(days("closing", 30, 31));
    const { id } = await h.engine.jobs.create("default", spec({ schedule: bounded("closing") }));
    await put(days("closing", -10, 10));
    expect([await state(id), await h.ledger(id)]).toEqual(["completed", [all(2)]]);
  });

  it("has no later instants in the ledger when a change of its rule decides the last occurrence of the old one [INV-11]", async () => {
    const name = "last";
    await put(days(name, 1, 10));
    const today = Math.floor(h.last / day) * day;
    const schedule: EverySchedule = { ...bounded(name), anchor: today, everyMs: day, endsAt: today + 5 * day };
    const { id } = await h.engine.jobs.create("default", spec({ schedule }));
    await h.select("update carillon.job set created_at = created_at - interval '2 days' where id = $1", id);
    // Its only occurrence, at the begin of today, is due.
    await h.select("update carillon.job_due set state = 'active' where job_id = $1", id);
    await h.select("delete from carillon.occurrence where job_id = $1", id);
    await setDue(h, id, today);
    await h.engine.jobs.edit("default", { id }, (job) => ({ ...job, schedule: bounded() }), actor);
    expect(await h.runs(id)).toMatchObject([{ trigger: "schedule", nominal_at: today }]);
    expect([await state(id), await h.ledger(id)]).toEqual(["active", []]);
  });
});
