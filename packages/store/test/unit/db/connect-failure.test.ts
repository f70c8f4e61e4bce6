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

describe("a failed connect", () => {
  it("gives the reason for each address of a name, and a hint", () => {
    const both = ["connect ECONNREFUSED ::1:5432", "connect ECONNREFUSED 127.0.0.1:5432"];
    const all = new AggregateError(both.map((text) => coded(text, "ECONNREFUSED")));
    const failure = describeConnectFailure(Object.assign(all, { code: "ECONNREFUSED" }), "localhost:5432");
    expect(failure).toBeInstanceOf(ConnectionLost);
    expect((failure as Error).message).toBe(
      `cannot connect to localhost:5432: ${both.join(", ")}; no server listens there: is PostgreSQL running, and is this its port?`,
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
  ])("is reported as a refusal with a hint after %s", (code, hint) => {
    const failure = refused(code);
    expect(failure).toBeInstanceOf(CarillonError);
    expect(failure).toMatchObject({ code: "database_refused", message: expect.stringContaining(hint) as string });
  });

  it("passes another error of the server on unchanged", () => {
    expect(refused("57P03")).toBeInstanceOf(DatabaseError);
  });
});
