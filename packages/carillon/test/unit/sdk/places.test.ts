import { describe, expect, it } from "vitest";
import { carillon, type LibraryOptions } from "../../../src/index.js";

describe("where an app finds everything", () => {
  it.each<[object, string]>([
    [{ databaseUrl: undefined }, "databaseUrl is undefined: is the variable that it comes from set?"],
    [{ url: "" }, "url is empty: is the variable that it comes from set?"],
    [{}, "one of them"],
    [{ url: "http://a", databaseUrl: "postgres://b" }, "one of them"],
    [{ dataDir: ".carillon", databaseUrl: "postgres://b" }, "one of them"],
  ])("must be said, and once: not %j", (options, message) => {
    expect(() => carillon(options as LibraryOptions)).toThrow(message);
  });
});
