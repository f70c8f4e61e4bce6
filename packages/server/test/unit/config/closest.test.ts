import { expect, it } from "vitest";
import { closest } from "../../../src/config/closest.js";

const names = ["port", "host", "data_dir", "database_url", "log_level"];

it.each([
  ["prot", "port"],
  ["PORT", "port"],
  ["datadir", "data_dir"],
  ["databse_url", "database_url"],
  ["loglevl", "log_level"],
])("takes %s for %s", (word, meant) => {
  expect(closest(word, names)).toBe(meant);
});

it.each(["colour", "x", "worker"])("offers nothing for %s, which is like none of them", (word) => {
  expect(closest(word, names)).toBeNull();
});
