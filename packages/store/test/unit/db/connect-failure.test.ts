import { CarillonError } from "@carillon/core";
import { DatabaseError } from "pg";
import { describe, expect, it } from "vitest";
import { describeConnectFailure } from "../../../src/db/connector.js";
import { ConnectionLost } from "../../../src/db/errors.js";

const coded = (message: string, code: string): Error => Object.assign(new Error(message), { code });

function refused(code: string): unknown {
  const error = new DatabaseError("no", 2, "error");
  error.code = code;
  return describeConnectFailure(error, "db:5432");
}

describe("a connection that cannot be made", () => {
  it("says why of each address of a name, and what to look at", () => {
    const both = ["connect ECONNREFUSED ::1:5432", "connect ECONNREFUSED 127.0.0.1:5432"];
    const all = new AggregateError(both.map((text) => coded(text, "ECONNREFUSED")));
    const told = describeConnectFailure(Object.assign(all, { code: "ECONNREFUSED" }), "localhost:5432");
    expect(told).toBeInstanceOf(ConnectionLost);
    expect((told as Error).message).toBe(
      `cannot connect to localhost:5432: ${both.join(", ")}; nothing listens there: is PostgreSQL running, and is this its port?`,
    );
    expect(describeConnectFailure(coded("getaddrinfo ENOTFOUND nowhere", "ENOTFOUND"), "nowhere")).toMatchObject({
      message: expect.stringContaining("there is no host of this name") as string,
    });
  });

  it.each([
    ["28P01", "check user and password"],
    ["28000", "pg_hba.conf"],
    ["3D000", "create it"],
    ["42501", "may not connect"],
  ])("is refused with %s, and that is told as such", (code, hint) => {
    const told = refused(code);
    expect(told).toBeInstanceOf(CarillonError);
    expect(told).toMatchObject({ code: "database_refused", message: expect.stringContaining(hint) as string });
  });

  it("stays what it is, where the server said something else", () => {
    expect(refused("57P03")).toBeInstanceOf(DatabaseError);
  });
});
