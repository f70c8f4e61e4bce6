import { describe, expect, it } from "vitest";
import { JsonTemplate } from "@carillon/condition";

const scope = { payload: { id: 7, name: "Ada", tags: ["a", "b"], none: null } };

describe("a JSON template", () => {
  it("puts a value in as it is where a text is one place and nothing else, and as text elsewhere", () => {
    const template = new JsonTemplate({
      id: "{payload.id}",
      text: "Hello {payload.name}",
      tags: ["{payload.tags}", 1, true],
    });
    expect(template.render(scope)).toEqual({ id: 7, text: "Hello Ada", tags: [["a", "b"], 1, true] });
  });

  it("keeps a null that is there, and refuses a value that is not", () => {
    expect(new JsonTemplate(["{payload.none}", null]).render(scope)).toEqual([null, null]);
    expect(() => new JsonTemplate(["{payload.missing}"]).render(scope)).toThrow("payload.missing does not exist");
  });

  it("is refused when it is written if a place is wrong or leads out of the data", () => {
    expect(() => new JsonTemplate({ a: "{secret.x}" })).toThrow("does not start with payload");
    expect(() => new JsonTemplate({ a: "{payload.__proto__}" })).toThrow("not allowed");
  });

  it("treats a member called __proto__ as a member", () => {
    const source: unknown = JSON.parse('{"__proto__": "{payload.id}"}');
    expect(JSON.stringify(new JsonTemplate(source).render(scope))).toBe('{"__proto__":7}');
  });

  it("has a bound on its size and depth", () => {
    let deep: unknown = "x";
    for (let depth = 0; depth < 50; depth++) deep = [deep];
    expect(() => new JsonTemplate(deep)).toThrow("nests more than 32 deep");
    expect(() => new JsonTemplate(Array.from({ length: 3_000 }, () => 1))).toThrow("more than 2000 values");
  });
});
