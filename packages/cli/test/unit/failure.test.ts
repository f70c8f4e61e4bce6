import { ApiError, ServerUnreachable } from "@carillon/client";
import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { CliError, ExitCode, exitCodeOfStatus, failureOf } from "../../src/exit-codes.js";

const refusal = (status: number, code: string, errors: ApiError["errors"] = []) =>
  new ApiError({
    status,
    code,
    detail: "It does not.",
    errors,
    requestId: null,
    retryable: false,
    retryAfterMs: null,
    serverDate: null,
  });

describe("how failures show in the exit code", () => {
  it("the published exit codes do not change", () => {
    expect(ExitCode).toEqual({
      ok: 0,
      failure: 1,
      usage: 2,
      notFound: 3,
      auth: 4,
      conflict: 5,
      runFailed: 6,
      cancelled: 7,
      timedOut: 8,
      wouldChange: 9,
      config: 78,
    });
  });

  it.each([
    [404, 3],
    [401, 4],
    [403, 4],
    [409, 5],
    [412, 5],
    [400, 2],
    [422, 2],
    [429, 1],
    [500, 1],
    [503, 1],
  ])("an answer with status %i has the exit code %i", (status, code) => {
    expect(exitCodeOfStatus(status)).toBe(code);
    expect(failureOf(refusal(status, "any")).exitCode).toBe(code);
  });

  it("a refusal lists every fault that the server found", () => {
    const errors = [{ pointer: "/schedule/cron", code: "cron_invalid", detail: "61 is out of range" }];
    expect(failureOf(refusal(422, "cron_invalid", errors)).message).toBe(
      "It does not. (cron_invalid)\n  - /schedule/cron: 61 is out of range",
    );
  });

  it("a refusal prints a single fault once", () => {
    const errors = [{ pointer: "/task", code: "field_invalid", detail: "must not be empty" }];
    const facts = {
      status: 400,
      code: "field_invalid",
      errors,
      requestId: null,
      retryable: false,
      retryAfterMs: null,
      serverDate: null,
    };
    const error = new ApiError({ ...facts, detail: "/task: must not be empty" });
    expect(failureOf(error).message).toBe("/task: must not be empty (field_invalid)");
  });

  it("an unreachable server is reported with the error of the network", () => {
    const below = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const error = new ServerUnreachable("network", "No answer.", new TypeError("fetch failed", { cause: below }));
    expect(failureOf(error).message).toMatch(/^No answer\. Nothing listens there\. Is the server running\?/);
  });

  it("an unreachable server is reported with how to start one", () => {
    const { exitCode, message } = failureOf(new ServerUnreachable("network", "No answer.", null));
    expect(exitCode).toBe(1);
    expect(message).toMatch(/carillon dev.*npm start.*--url/);
  });

  it("a wrong configuration ends with 78", () => {
    expect(failureOf(new CarillonError("config_invalid", "two mistakes"))).toEqual({
      exitCode: 78,
      message: "two mistakes",
    });
  });

  it("a CliError has the code that its command chose", () => {
    expect(failureOf(new CliError(ExitCode.timedOut, "late"))).toEqual({ exitCode: 8, message: "late" });
  });

  it("an error of the system or the database is reported without a stack, with a hint", () => {
    const denied = Object.assign(new Error("EACCES: permission denied, mkdir '/x'"), {
      code: "EACCES",
      syscall: "mkdir",
    });
    expect(failureOf(denied)).toEqual({
      exitCode: 1,
      message: "EACCES: permission denied, mkdir '/x'; check who may read and write it",
    });
    const refused = Object.assign(new Error("permission denied for database app"), {
      code: "42501",
      severity: "ERROR",
    });
    expect(failureOf(refused).message).toMatch(
      /^The database refused a statement: permission denied.*must own the schema/,
    );
  });

  it("a bug is reported with its stack", () => {
    const { exitCode, message } = failureOf(new TypeError("x is not a function"));
    expect(exitCode).toBe(1);
    expect(message).toMatch(/bug in carillon: TypeError: x is not a function\n +at /);
  });
});
