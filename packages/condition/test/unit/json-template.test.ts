import { describe, expect, it } from "vitest";
import { JsonTemplate } from "@carillon/condition";

const scope = { payload: { id: 7, name: "Ada", tags: ["a", "b"], none: null } };

describe("a JSON template", () => {
  it("renders a text of one placeholder as the value itself, and any other as a text", () => {
    const template = new JsonTemplate({
      id: "{payload.id}",
      text: "Hello {payload.name}",
      tags: ["{payload.tags}", 1, true],
    });
    expect(template.render(scope)).toEqual({ id: 7, text: "Hello Ada", tags: [["a", "b"], 1, true] });
  });

  it("renders a null, and refuses a missing value", () => {
    expect(new JsonTemplate(["{payload.none}", null]).render(scope)).toEqual([null, null]);
    expect(() => new JsonTemplate(["{payload.missing}"]).render(scope)).toThrow("payload.missing does not exist");
  });

  it("refuses a template whose placeholder has another root or reaches a prototype", () => {
    expect(() => new JsonTemplate({ a: "{secret.x}" })).toThrow("does not start with payload");
    expect(() => new JsonTemplate({ a: "{payload.__proto__}" })).toThrow("not allowed");
  });

  it("treats a member with the name __proto__ as a member", () => {
    const source: unknown = JSON.parse('{"__proto__": "{payload.id}"}');
    expect(JSON.stringify(new JsonTemplate(source).render(scope))).toBe('{"__proto__":7}');
  });

  it("refuses a template that has too many values or nests too deep", () => {
    let deep: unknown = "x";
    for (let depth = 0; depth < 50; depth++) deep = [deep];
    expect(() => new JsonTemplate(deep)).toThrow("nests more than 32 deep");
    expect(() => new JsonTemplate(Array.from({ length: 3_000 }, () => 1))).toThrow("more than 2000 values");
  });
});
