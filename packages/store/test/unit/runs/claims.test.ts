import { expect, it } from "vitest";
import type { Queryable } from "../../../src/db/queryable.js";
import { claimStore } from "../../../src/dispatch/claim-store.js";
import type { Statements } from "../../../src/sql/statements.js";

it("the read of all live runs uses a connection without hot statements", async () => {
  const sent: string[] = [];
  const over = (way: string): Queryable => {
    const query = async ({ text }: { text: string }) => {
      sent.push(`${way} ${text}`);
      return { rows: [], rowCount: 0 };
    };
    return { query };
  };
  const statements = { get: (text: string) => ({ text, values: Object.values }) } as unknown as Statements;
  const claims = claimStore(over("hot"), statements, over("slow"));
  await claims.held(["s"]);
  await claims.heldAmong("s", ["r"]);
  expect(sent).toEqual(["slow run.held", "hot run.held_among"]);
});
