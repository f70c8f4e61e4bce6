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

  it("classifies an error by its code and ignores the message", () => {
    expect(classifyPgError(new Error("deadlock detected"))).toBe("other");
    expect(classifyPgError(Object.assign(new Error("connection terminated"), { code: "23505" }))).toBe("unique");
  });

  it("finds the server's error inside the errors that wrap it", () => {
    const wrapped = new CarillonError("internal", "another message", {
      cause: new Error("x", { cause: withCode("40001") }),
    });
    expect(classifyPgError(wrapped)).toBe("serialization");
    expect(sqlStateOf(wrapped)).toBe("40001");
  });

  it.each([null, undefined, "text", 1, {}, new Error("x")])("classifies %o as other", (value) => {
    expect(classifyPgError(value)).toBe("other");
  });

  it("recognizes a lost connection by its class", () => {
    expect(classifyPgError(new ConnectionLost("x"))).toBe("transient_connection");
  });
});

describe("endsConnection", () => {
  it("is true for states that close the connection or show that it leads to a standby", () => {
    expect(["57P01", "25P03", "25P04", "25006", "08006"].every(endsConnection)).toBe(true);
    expect(["57014", "23505", "40001", "53100"].some(endsConnection)).toBe(false);
  });
});

describe("toStoreError", () => {
  it.each(["57P01", "25006", "53300", "53100", "ECONNREFUSED"])("reports %s as database_unavailable", (code) => {
    const cause = withCode(code);
    expect(toStoreError(cause)).toMatchObject({ code: "database_unavailable", cause });
  });

  it("reports a statement that was stopped as database_timeout", () => {
    expect(toStoreError(withCode("57014"))).toMatchObject({ code: "database_timeout" });
  });

  it.each(["23505", "40001", "42P01"])("passes %s on unchanged", (code) => {
    const error = withCode(code);
    expect(toStoreError(error)).toBe(error);
  });
});
