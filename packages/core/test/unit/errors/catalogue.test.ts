import { readFileSync } from "node:fs";
import { CarillonError, errorAnchor, errorAreas, errorCatalogue, type ErrorCode } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { renderErrors } from "../../../../../scripts/generate/errors.mjs";

const page = readFileSync(new URL("../../../../../docs/reference/errors.md", import.meta.url), "utf8");
const codes = Object.values(errorAreas).flat();

describe("the error catalogue", () => {
  it("equals docs/reference/errors.md: node scripts/generate/errors.mjs writes it", () => {
    expect(page).toBe(renderErrors({ errorAreas, errorCatalogue }));
  });

  it("has each code in one area only", () => {
    expect(new Set(codes).size).toBe(codes.length);
    expect(Object.keys(errorCatalogue).sort()).toEqual([...codes].sort());
  });

  it.each(Object.entries(errorCatalogue))("says of %s all that an answer needs", (code, { status, title }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
    expect(Number.isInteger(status) && status >= 400 && status <= 599).toBe(true);
    expect(title).toMatch(/^[A-Z].*[^.]$/);
    expect(page).toContain(`\n### ${code}\n`);
  });

  it("calls no fault of the caller's input retryable", () => {
    const faults = codes.filter((code) => [400, 413, 415, 422].includes(errorCatalogue[code].status));
    expect(faults.filter((code) => errorCatalogue[code].retryable)).toEqual([]);
  });

  it("points to the code's own heading", () => {
    const code: ErrorCode = "cron_invalid";
    expect(errorAnchor(code)).toBe("docs/reference/errors.md#cron_invalid");
  });
});

describe("CarillonError", () => {
  it("carries its code, its items and its cause", () => {
    const cause = new Error("below");
    const items = [{ pointer: "/a", code: "field_invalid", detail: "a is wrong" }];
    const error = new CarillonError("bad_request", "what is wrong", { items, cause });
    expect(error).toMatchObject({ name: "CarillonError", code: "bad_request", message: "what is wrong", items, cause });
    expect(error).toBeInstanceOf(Error);
  });

  it("has neither items nor cause unless they are given", () => {
    const error = new CarillonError("internal", "x");
    expect(error.items).toEqual([]);
    expect("cause" in error).toBe(false);
  });
});
