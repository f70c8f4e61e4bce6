import { expect, it } from "vitest";
import { type Column, renderFields, renderTable } from "../../src/output.js";

const columns: readonly Column<{ name: unknown; ms: number }>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "MS", value: ({ ms }) => ms, align: "right" },
  { title: "X", value: () => null },
];

it("a table has columns as wide as their widest cell, without trailing blanks", () => {
  expect(
    renderTable(columns, [
      { name: "a", ms: 5 },
      { name: "longer", ms: 1000 },
    ]),
  ).toBe("NAME      MS  X\na          5  -\nlonger  1000  -\n");
});

it("an empty table has its titles", () => {
  expect(renderTable(columns, [])).toBe("NAME  MS  X\n");
});

it("a table counts characters, not code units", () => {
  expect(renderTable(columns, [{ name: "🔔", ms: 1 }]).split("\n")[1]).toBe("🔔      1  -");
});

it("a table contains no control characters of the data", () => {
  const shown = renderTable(columns, [{ name: "a\u001b[2Jb\nc\u009b", ms: 1 }]);
  expect(shown.split("\n")).toHaveLength(3);
  expect(shown.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
});

it("fields are printed as names and values, and objects as JSON", () => {
  expect(
    renderFields([
      ["id", "x"],
      ["payload", { a: [1] }],
      ["none", undefined],
    ]),
  ).toBe('id       x\npayload  {"a":[1]}\nnone     -\n');
});
