import { describe, expect, it } from "vitest";
import { carillon, type LibraryOptions } from "../../../src/index.js";

describe("where an app finds everything", () => {
  it.each<[object, string]>([
    [
      { databaseUrl: undefined },
      "The option databaseUrl is undefined. Is the environment variable that it comes from set?",
    ],
    [{ url: "" }, "The option url is empty. Is the environment variable that it comes from set?"],
    [{}, "Give exactly one of url"],
    [{ url: "http://a", databaseUrl: "postgres://b" }, "Give exactly one of url"],
    [{ dataDir: ".carillon", databaseUrl: "postgres://b" }, "Give exactly one of url"],
  ])("refuses %j: an app needs exactly one place", (options, message) => {
    expect(() => carillon(options as LibraryOptions)).toThrow(message);
  });
});
