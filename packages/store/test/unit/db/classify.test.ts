import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { ConnectionLost, classifyPgError, endsConnection, sqlStateOf, toStoreError } from "../../../src/db/errors.js";

const withCode = (code: string): Error => Object.assign(new Error("some words"), { code });

describe("classifyPgError", () => {
  it.each([
    ["40001", "serialization"],
    ["40P01", "serialization"],
    ["23505", "unique"],
    ["23514", "check"],
    ["53100", "disk_full"],
    ["25006", "read_only"],
    ["53300", "too_many_connections"],
    ["57014", "cancelled"],
    ["25P03", "cancelled"],
    ["25P04", "cancelled"],
    ["57P01", "transient_connection"],
    ["57P03", "transient_connection"],
    ["08006", "transient_connection"],
    ["08P01", "transient_connection"],
    ["42P01", "other"],
    ["ECONNREFUSED", "transient_connection"],
    ["EPIPE", "transient_connection"],
    ["ENOTFOUND", "transient_connection"],
    ["ERR_SOMETHING", "other"],
  ])("%s is %s", (code, kind) => {
    expect(classifyPgError(withCode(code))).toBe(kind);
  });

  it("goes by the code, whatever the message says", () => {
    expect(classifyPgError(new Error("deadlock detected"))).toBe("other");
    expect(classifyPgError(Object.assign(new Error("connection terminated"), { code: "23505" }))).toBe("unique");
  });

  it("looks through the errors that wrap the server's", () => {
    const wrapped = new CarillonError("internal", "told otherwise", {
      cause: new Error("x", { cause: withCode("40001") }),
    });
    expect(classifyPgError(wrapped)).toBe("serialization");
    expect(sqlStateOf(wrapped)).toBe("40001");
  });

  it.each([null, undefined, "text", 1, {}, new Error("x")])("takes %o for other", (value) => {
    expect(classifyPgError(value)).toBe("other");
  });

  it("knows a lost connection by its class", () => {
    expect(classifyPgError(new ConnectionLost("x"))).toBe("transient_connection");
  });
});

describe("endsConnection", () => {
  it("holds for what closes the connection, or shows that it leads to a standby", () => {
    expect(["57P01", "25P03", "25P04", "25006", "08006"].every(endsConnection)).toBe(true);
    expect(["57014", "23505", "40001", "53100"].some(endsConnection)).toBe(false);
  });
});

describe("toStoreError", () => {
  it.each(["57P01", "25006", "53300", "53100", "ECONNREFUSED"])("tells %s as database_unavailable", (code) => {
    const cause = withCode(code);
    expect(toStoreError(cause)).toMatchObject({ code: "database_unavailable", cause });
  });

  it("tells a statement that was stopped as database_timeout", () => {
    expect(toStoreError(withCode("57014"))).toMatchObject({ code: "database_timeout" });
  });

  it.each(["23505", "40001", "42P01"])("leaves %s to the caller", (code) => {
    const error = withCode(code);
    expect(toStoreError(error)).toBe(error);
  });
});
