import { describe, expect, it } from "vitest";
import { declaredInvariants, invariantFindings, proofsIn } from "../../check/docs/invariants.mjs";
import { testTitles } from "../../check/docs/test-titles.mjs";
import { auditsIn, testsPage, withAudits } from "../../generate/invariants.mjs";

const documentWith = (...invariants: string[]): string =>
  invariants.map((words, index) => `## INV-${index + 1}: ${words}\n\nwhat it says\n`).join("\n");
const testWith = (title: string): Map<string, string> =>
  new Map([["packages/a/test/unit/a.test.ts", `it(${JSON.stringify(title)}, () => {});`]]);

describe("the reader of test titles", () => {
  it("reads titles of it, test and describe, in every kind of quotes and after each", () => {
    const source = `
describe("a", () => {
  it('b (c)', () => {});
  it.each([["x"], [")"]])("d %s", () => {});
  it.skipIf(process.platform === "win32")(\`e \${1 + "}".length} f\`, () => {});
  test.each\`\${1}\`("g", () => {});
  it(
    "h",
    { timeout: 1 },
    () => {},
  );
});`;
    expect(testTitles(source).map(({ title }) => title)).toEqual([
      "a",
      "b (c)",
      "d %s",
      'e ${1 + "}".length} f',
      "g",
      "h",
    ]);
  });

  it("ignores titles in comments, strings and regular expressions, and in calls of other functions", () => {
    const source = `
// it("no 1")
/* it("no 2") */
const planted = 'it("no 3")';
const other = \`it("no 4") \${run(\`it("no 5")\`)}\`;
const quote = /["'\`]it\\("no 6"/;
edit("no 7"); submit.test("no 8"); describe(name, () => it("yes", () => {}));`;
    expect(testTitles(source)).toEqual([{ title: "yes", full: "yes" }]);
  });

  it("ignores titles of tests that are skipped or marked as todo", () => {
    const source = 'it.skip("a", f); it.todo("b"); describe.skip("c", () => { it("d", f); }); it.skipIf(x)("e", f);';
    expect(testTitles(source).map(({ title }) => title)).toEqual(["e"]);
  });

  it("puts the titles of the enclosing blocks before the title of a test", () => {
    const source = 'describe("a", () => { describe("b", () => { it("c", f); }); it("d", f); }); it("e", f);';
    expect(testTitles(source).map(({ full }) => full)).toEqual(["a", "a: b", "a: b: c", "a: d", "e"]);
  });
});

describe("the check of invariants", () => {
  it("finds a title that names an undeclared invariant", () => {
    const findings = invariantFindings(
      declaredInvariants(documentWith("one")),
      proofsIn(testWith("x [INV-1] [INV-7]")),
    );
    expect(findings).toHaveLength(1);
    expect(findings[0]).toContain("INV-7, which docs/invariants.md does not have");
  });

  it("finds an invariant that no title names", () => {
    const findings = invariantFindings(declaredInvariants(documentWith("one", "two")), proofsIn(testWith("x [INV-1]")));
    expect(findings).toEqual([expect.stringContaining("INV-2 is named by no test title")]);
  });

  it("accepts an unproved invariant that states the missing part of the product, as long as no test proves it", () => {
    const declared = declaredInvariants(`${documentWith("one")}\nNot yet provable: webhooks\n`);
    expect(declared[0]?.missing).toBe("webhooks");
    expect(invariantFindings(declared, [])).toEqual([]);
    expect(invariantFindings(declared, proofsIn(testWith("x [INV-1]")))).toEqual([
      expect.stringContaining("remove the mark"),
    ]);
  });

  it("refuses a mark without a missing part, and a gap in the numbers", () => {
    expect(invariantFindings(declaredInvariants("## INV-1: one\nNot yet provable:\n"), [])).toEqual([
      expect.stringContaining("must say which part"),
    ]);
    expect(invariantFindings(declaredInvariants("## INV-2: two\n"), proofsIn(testWith("x [INV-2]")))).toEqual([
      expect.stringContaining("without a gap"),
    ]);
  });
});

describe("the page with the tests of the invariants", () => {
  it("lists the titles that name each invariant, without the [INV-n] tag, by number", () => {
    const texts = new Map([
      ...testWith("refuses a_b [INV-3]"),
      ["chaos/test/unit/b.test.ts", 'it("c [INV-1] [INV-3]", () => {});'],
    ]);
    expect(testsPage(proofsIn(texts))).toBe(
      [
        "# Tests of the invariants",
        "",
        "Generated: the tests whose titles name an [invariant](../invariants.md).",
        "",
        "## INV-1",
        "",
        "- c ([chaos: unit/b](../../chaos/test/unit/b.test.ts))",
        "",
        "## INV-3",
        "",
        "- c ([chaos: unit/b](../../chaos/test/unit/b.test.ts))",
        "- refuses a\\_b ([a: unit/a](../../packages/a/test/unit/a.test.ts))",
        "",
      ].join("\n"),
    );
  });
});

describe("the audit queries in the document", () => {
  const sql =
    "-- about\n\n-- name: audit.inv_2\n-- purpose: p\n-- params: none\nselect 1\nfrom a;\n\n-- name: audit.other\nselect 2;\n";
  const block = (text: string): string => `before\n<!-- audit of INV-2 -->\n${text}<!-- end -->\nafter\n`;

  it("copies audit queries from audit.sql without their headers", () => {
    expect([...auditsIn(sql)]).toEqual([[2, "select 1\nfrom a;\n"]]);
    const written = withAudits(block("stale\n"), auditsIn(sql));
    expect(written).toBe(block("```sql\nselect 1\nfrom a;\n```\n"));
  });

  it("refuses an audit query that the document or audit.sql lacks", () => {
    expect(() => withAudits("nothing", auditsIn(sql))).toThrow("no block for the audit of INV-2");
    expect(() => withAudits(block(""), new Map())).toThrow("no statement audit.inv_2");
  });
});
