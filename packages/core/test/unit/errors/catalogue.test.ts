import { readFileSync } from "node:fs";
import { CarillonError, errorAnchor, errorAreas, errorCatalogue, type ErrorCode } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { renderErrors } from "../../../../../scripts/generate/errors.mjs";

const page = readFileSync(new URL("../../../../../docs/reference/errors.md", import.meta.url), "utf8");
const codes = Object.values(errorAreas).flat();

describe("the error catalogue", () => {
  it("docs/reference/errors.md equals the error catalogue (node scripts/generate/errors.mjs writes it)", () => {
    expect(page).toBe(renderErrors({ errorAreas, errorCatalogue }));
  });

  it("lists each error code in one area only", () => {
    expect(new Set(codes).size).toBe(codes.length);
    expect(Object.keys(errorCatalogue).sort()).toEqual([...codes].sort());
  });

  it.each(Object.entries(errorCatalogue))(
    "gives %s a status and a title that is a sentence",
    (code, { status, title }) => {
      expect(code).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
      expect(Number.isInteger(status) && status >= 400 && status <= 599).toBe(true);
      expect(title).toMatch(/^[A-Z].*\.$/);
      expect(page).toContain(`\n### ${code}\n`);
    },
  );

  it("marks no error of the request itself as retryable", () => {
    const faults = codes.filter((code) => [400, 413, 415, 422].includes(errorCatalogue[code].status));
    expect(faults.filter((code) => errorCatalogue[code].retryable)).toEqual([]);
  });

  it("links an error code to its heading in the reference", () => {
    const code: ErrorCode = "cron_invalid";
    expect(errorAnchor(code)).toBe("docs/reference/errors.md#cron_invalid");
  });
});

describe("CarillonError", () => {
  it("a CarillonError has its code, its items and its cause", () => {
    const cause = new Error("below");
    const items = [{ pointer: "/a", code: "field_invalid", detail: "a is wrong" }];
    const error = new CarillonError("bad_request", "what is wrong", { items, cause });
    expect(error).toMatchObject({ name: "CarillonError", code: "bad_request", message: "what is wrong", items, cause });
    expect(error).toBeInstanceOf(Error);
  });

  it("a CarillonError has no items and no cause by default", () => {
    const error = new CarillonError("internal", "x");
    expect(error.items).toEqual([]);
    expect("cause" in error).toBe(false);
  });
});
