import { ApiError, ServerUnreachable } from "@carillon/client";
import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { CliError, ExitCode, exitCodeOfStatus } from "../../src/exit-codes.js";
import { failureOf } from "../../src/failure.js";

const refusal = (status: number, code: string, errors: ApiError["errors"] = []) =>
  new ApiError({ status, code, detail: "It does not.", errors, requestId: null, retryable: false, retryAfterMs: null });

describe("how failures show in the exit code", () => {
  it("keeps the published codes", () => {
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
  ])("gives an answer of %i the exit code %i", (status, code) => {
    expect(exitCodeOfStatus(status)).toBe(code);
    expect(failureOf(refusal(status, "whatever")).exitCode).toBe(code);
  });

  it("shows every fault that the server found", () => {
    const errors = [{ pointer: "/schedule/cron", code: "cron_invalid", detail: "61 is out of range" }];
    expect(failureOf(refusal(422, "cron_invalid", errors)).message).toBe(
      "It does not. (cron_invalid)\n  - /schedule/cron: 61 is out of range",
    );
  });

  it("says a single fault once", () => {
    const errors = [{ pointer: "/task", code: "field_invalid", detail: "must not be empty" }];
    const facts = { status: 400, code: "field_invalid", errors, requestId: null, retryable: false, retryAfterMs: null };
    const error = new ApiError({ ...facts, detail: "/task: must not be empty" });
    expect(failureOf(error).message).toBe("/task: must not be empty (field_invalid)");
  });

  it("says what the network said", () => {
    const below = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const error = new ServerUnreachable("network", "No answer.", new TypeError("fetch failed", { cause: below }));
    expect(failureOf(error).message).toMatch(/^No answer\. Nothing listens there\. Is the server running\?/);
  });

  it("says how to start a server when none answers", () => {
    const { exitCode, message } = failureOf(new ServerUnreachable("network", "No answer.", null));
    expect(exitCode).toBe(1);
    expect(message).toMatch(/carillon dev.*npm start.*--url/);
  });

  it("ends with 78 for a wrong configuration", () => {
    expect(failureOf(new CarillonError("config_invalid", "two mistakes"))).toEqual({
      exitCode: 78,
      message: "two mistakes",
    });
  });

  it("takes the code that a command chose", () => {
    expect(failureOf(new CliError(ExitCode.timedOut, "late"))).toEqual({ exitCode: 8, message: "late" });
  });

  it("tells what the system or the database refuses without a stack, and what to look at", () => {
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

  it("shows the stack of what is a fault of its own", () => {
    const { exitCode, message } = failureOf(new TypeError("x is not a function"));
    expect(exitCode).toBe(1);
    expect(message).toMatch(/bug in carillon: TypeError: x is not a function\n +at /);
  });
});
