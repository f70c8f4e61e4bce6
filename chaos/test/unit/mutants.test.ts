import { describe, expect, it } from "vitest";
import { checkFreshness } from "../../src/mutants/check-freshness.js";
import { type Mutant, moduleAt, mutateModule, mutateStatements } from "../../src/mutants/mutant.js";
import { mutantNamed, mutants } from "../../src/mutants/mutants.js";

const named = mutants.map((mutant) => [mutant.name, mutant] as const);
const mutant: Mutant = {
  name: "m",
  edits: [
    { in: "a.b", from: "one", to: "two" },
    { in: "engine/src/x.ts", from: "left", to: "right" },
  ],
};
const file = "-- name: a.a\none\n\n-- name: a.b\none\n";

describe("mutants", () => {
  it.each(named)("the mutant %s finds its texts in the sources", (_name, one) => {
    expect(() => checkFreshness(one, "source")).not.toThrow();
  });

  it("every mutant has either another guard or the violations that reveal it", () => {
    for (const { guardedBy, shownBy } of mutants) expect(guardedBy === undefined).toBe(shownBy !== undefined);
  });

  it("a mutant changes the statement that it names and no other", () => {
    expect(mutateStatements(mutant, file)).toBe("-- name: a.a\none\n\n-- name: a.b\ntwo\n");
    expect(mutateStatements(mutant, "-- name: a.a\none\n")).toBe("-- name: a.a\none\n");
  });

  it("a mutant changes the module that it names, found by the URL of the built module", () => {
    expect(moduleAt("file:///x/packages/engine/dist/store/y.js")).toBe("engine/src/store/y.ts");
    expect(moduleAt("node:fs")).toBeNull();
    expect(mutateModule(mutant, "engine/src/x.ts", "left, then")).toBe("right, then");
    expect(mutateModule(mutant, "engine/src/y.ts", "left, then")).toBe("left, then");
  });

  it("a mutant whose text is missing in the product, or occurs twice, is refused", () => {
    expect(() => mutateModule(mutant, "engine/src/x.ts", "nothing")).toThrow(" 0 times in");
    expect(() => mutateStatements(mutant, `${file}one\n`)).toThrow(" 2 times in");
  });

  it("a mutant whose statement is missing in the product is refused", () => {
    expect(() => checkFreshness({ name: "m", edits: [{ in: "a.b", from: "x", to: "" }] }, "source")).toThrow(
      "finds no statement a.b",
    );
  });

  it("an unknown mutant is refused with the names of those that exist", () => {
    expect(() => mutantNamed("tame")).toThrow("completion-without-fence");
  });
});
