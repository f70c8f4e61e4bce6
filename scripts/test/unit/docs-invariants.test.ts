import { describe, expect, it } from "vitest";
import { declaredInvariants, invariantFindings, proofsIn } from "../../check/docs/invariants.mjs";
import { testTitles } from "../../check/docs/test-titles.mjs";
import { auditsIn, withAudits } from "../../generate/invariant-audits.mjs";
import { withProofs } from "../../generate/invariant-tests.mjs";

const documentWith = (...invariants: string[]): string =>
  invariants.map((words, index) => `## INV-${index + 1}: ${words}\n\nwhat it says\n`).join("\n");
const testWith = (title: string): Map<string, string> =>
  new Map([["packages/a/test/unit/a.test.ts", `it(${JSON.stringify(title)}, () => {});`]]);

describe("the reader of test titles", () => {
  it("reads titles of it, test and describe, in every kind of quotes and behind each", () => {
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

  it("takes no title from comments, other strings, regular expressions and other calls", () => {
    const source = `
// it("no 1")
/* it("no 2") */
const planted = 'it("no 3")';
const other = \`it("no 4") \${run(\`it("no 5")\`)}\`;
const quote = /["'\`]it\\("no 6"/;
edit("no 7"); submit.test("no 8"); describe(name, () => it("yes", () => {}));`;
    expect(testTitles(source)).toEqual([{ title: "yes", full: "yes" }]);
  });

  it("takes no title of a test that is skipped or only planned", () => {
    const source = 'it.skip("a", f); it.todo("b"); describe.skip("c", () => { it("d", f); }); it.skipIf(x)("e", f);';
    expect(testTitles(source).map(({ title }) => title)).toEqual(["e"]);
  });

  it("puts the titles of the blocks around a test in front of its own", () => {
    const source = 'describe("a", () => { describe("b", () => { it("c", f); }); it("d", f); }); it("e", f);';
    expect(testTitles(source).map(({ full }) => full)).toEqual(["a", "a b", "a b c", "a d", "e"]);
  });
});

describe("the check of invariants", () => {
  it("finds a planted title that names an invariant which is not declared", () => {
    const findings = invariantFindings(
      declaredInvariants(documentWith("one")),
      proofsIn(testWith("x [INV-1] [INV-7]")),
    );
    expect(findings).toHaveLength(1);
    expect(findings[0]).toContain("INV-7, which docs/invariants.md does not have");
  });

  it("finds a planted invariant that no title names", () => {
    const findings = invariantFindings(declaredInvariants(documentWith("one", "two")), proofsIn(testWith("x [INV-1]")));
    expect(findings).toEqual([expect.stringContaining("INV-2 is named by no test title")]);
  });

  it("accepts one that says which part of the product is missing, as long as no test proves it", () => {
    const declared = declaredInvariants(`${documentWith("one")}\nNot yet provable: webhooks\n`);
    expect(declared[0]?.missing).toBe("webhooks");
    expect(invariantFindings(declared, [])).toEqual([]);
    expect(invariantFindings(declared, proofsIn(testWith("x [INV-1]")))).toEqual([
      expect.stringContaining("take the mark away"),
    ]);
  });

  it("refuses a mark that names nothing, and a gap in the numbers", () => {
    expect(invariantFindings(declaredInvariants("## INV-1: one\nNot yet provable:\n"), [])).toEqual([
      expect.stringContaining("must say which part"),
    ]);
    expect(invariantFindings(declaredInvariants("## INV-2: two\n"), proofsIn(testWith("x [INV-2]")))).toEqual([
      expect.stringContaining("without a gap"),
    ]);
  });
});

describe("the lists of tests in the document", () => {
  const block = (lines: string): string => `before\n<!-- tests of INV-3 -->\n${lines}<!-- end -->\nafter\n`;

  it("are replaced by the titles that name the invariant, without its mark", () => {
    const written = withProofs(block("- stale\n"), proofsIn(testWith("refuses a_b [INV-3]")));
    expect(written).toBe(block("- refuses a\\_b ([a: unit/a](../packages/a/test/unit/a.test.ts))\n"));
    expect(withProofs(written, proofsIn(testWith("refuses a_b [INV-3]")))).toBe(written);
  });

  it("are emptied when no title names the invariant any more", () => {
    expect(withProofs(block("- stale\n"), proofsIn(testWith("other [INV-1]")))).toBe(block(""));
  });
});

describe("the audit queries in the document", () => {
  const sql =
    "-- about\n\n-- name: audit.inv_2\n-- purpose: p\n-- params: none\nselect 1\nfrom a;\n\n-- name: audit.other\nselect 2;\n";
  const block = (text: string): string => `before\n<!-- audit of INV-2 -->\n${text}<!-- end -->\nafter\n`;

  it("are those of audit.sql, without their headers", () => {
    expect([...auditsIn(sql)]).toEqual([[2, "select 1\nfrom a;\n"]]);
    const written = withAudits(block("stale\n"), auditsIn(sql));
    expect(written).toBe(block("```sql\nselect 1\nfrom a;\n```\n"));
  });

  it("are refused when the document or the file lacks one", () => {
    expect(() => withAudits("nothing", auditsIn(sql))).toThrow("no block for the audit of INV-2");
    expect(() => withAudits(block(""), new Map())).toThrow("no statement audit.inv_2");
  });
});
