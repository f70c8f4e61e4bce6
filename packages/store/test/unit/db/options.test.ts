import { ManualClock } from "@carillon/core";
import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { defaultTimeouts, resolveOptions, spendBudget, type DatabaseOptions } from "../../../src/db/options.js";

const time = new ManualClock();
const options = (more: Partial<DatabaseOptions>): DatabaseOptions => ({
  schema: "carillon",
  clock: time,
  timers: time,
  random: () => 0,
  ...more,
});

describe("the budget of connections", () => {
  it.each([4, 5, 7, 8, 10, 50])("spends all of %i and no more", (size) => {
    const { pool, hot, reserved, direct } = spendBudget(size);
    expect(pool + hot + reserved + direct).toBe(size);
    expect(Math.min(pool, hot, reserved, direct)).toBeGreaterThanOrEqual(1);
  });

  it("of three keeps one for LISTEN and uses the others as the pool", () => {
    expect(spendBudget(3)).toEqual({ pool: 2, hot: 0, reserved: 0, direct: 1 });
  });

  it.each([2, 0, -1, 4.5, Number.NaN])("refuses %d", (size) => {
    expect(() => spendBudget(size)).toThrow(expect.objectContaining({ code: "database_pool_too_small" }));
  });
});

describe("resolveOptions", () => {
  it("fills in defaults, and keeps single timeouts that were given", () => {
    const resolved = resolveOptions(options({ url: "postgres://a/b", timeouts: { connectMs: 1 } }));
    expect(resolved.timeouts).toEqual({ ...defaultTimeouts, connectMs: 1 });
    expect(resolved).toMatchObject({ poolSize: 10, statementNames: "auto", applicationName: "carillon" });
  });

  it("keeps every timeout that a fence depends on below the lease of 5 s", () => {
    expect(Math.max(defaultTimeouts.hotStatementMs, defaultTimeouts.transactionMs)).toBeLessThan(5_000);
  });

  it("refuses options with both a URL and a pool, or with neither", () => {
    const refusal = expect.objectContaining({ code: "database_url_invalid" });
    expect(() => resolveOptions(options({}))).toThrow(refusal);
    expect(() => resolveOptions(options({ url: "postgres://a/b", pool: new Pool() }))).toThrow(refusal);
  });

  it("refuses a schema name that needs escaping", () => {
    expect(() => resolveOptions(options({ url: "postgres://a/b", schema: "A" }))).toThrow(
      expect.objectContaining({ code: "schema_name_invalid" }),
    );
  });
});
