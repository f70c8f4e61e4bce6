import { CarillonError, Template, type TemplateOptions } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const payload = {
  customer: { id: 42, name: "Ada", vip: true },
  items: [{ sku: "a-1" }, { sku: "b-2" }],
  "with-dash": "d",
  _under: "u",
  ratio: 0.5,
  empty: "",
  nothing: null,
};

function refusalOf(act: () => unknown): CarillonError {
  try {
    act();
  } catch (error) {
    if (error instanceof CarillonError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

const refusedSource = (source: string, options?: TemplateOptions) => refusalOf(() => new Template(source, options));
const refusedValue = (source: string) => refusalOf(() => new Template(source).render({ payload }));

describe("Template", () => {
  it.each([
    ["", ""],
    ["plain text", "plain text"],
    ["customer:{payload.customer.id}", "customer:42"],
    ["{payload.customer.name}{payload.customer.vip}", "Adatrue"],
    ["{payload.items.1.sku}", "b-2"],
    ["{payload.with-dash}{payload._under}", "du"],
    ["{payload.ratio}", "0.5"],
    ["[{payload.empty}]", "[]"],
    ["{{payload.customer.id}}", "{payload.customer.id}"],
    ["{{{payload.customer.id}}}", "{42}"],
    ['{{"id": {payload.customer.id}}}', '{"id": 42}'],
    ["}}{{", "}{"],
    ["$1 $& %s \\{{", "$1 $& %s \\{"],
  ])("renders the template %j", (source, expected) => {
    expect(new Template(source).render({ payload })).toBe(expected);
  });

  it("lists the paths of a template", () => {
    expect(new Template("{payload.a}-{payload.b.0}").paths).toEqual(["payload.a", "payload.b.0"]);
    expect(new Template("{{payload.a}}").paths).toEqual([]);
  });

  it("renders any text with doubled braces as itself", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const doubled = text.replaceAll("{", "{{").replaceAll("}", "}}");
        expect(new Template(doubled).render({})).toBe(text);
      }),
    );
  });

  it("inserts values unchanged, braces included", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(new Template("<{payload.v}>").render({ payload: { v: value } })).toBe(`<${value}>`);
      }),
    );
  });

  it.each([
    ["a {payload.b", 3, "Nothing closes this {"],
    ["a } b", 3, "A } closes nothing"],
    ["{payload.a}}", 12, "A } closes nothing"],
    ["{}", 1, '"" does not start with payload'],
    ["ab{secret.x}", 3, '"secret.x" does not start with payload'],
    ["{ payload.a }", 1, "does not start with payload"],
    ["{payload.}", 1, '"" is not a name'],
    ["{payload..a}", 1, '"" is not a name'],
    ["{payload.a b}", 1, '"a b" is not a name'],
    ["{payload.a()}", 1, '"a()" is not a name'],
    ["{payload['a']}", 1, "does not start with payload"],
    ["{payload.01}", 1, '"01" is not a name'],
    ["{payload.{payload.a}}", 1, "is not a name"],
    ["{payload.__proto__.x}", 1, "The name __proto__ is not allowed"],
    ["{payload.constructor}", 1, "The name constructor is not allowed"],
    ["{payload.a.prototype}", 1, "The name prototype is not allowed"],
    [`{payload${".a".repeat(16)}}`, 1, "has more than 16 names"],
    [`${"{payload.a}".repeat(64)}x{payload.a}`, 706, "more than 64 placeholders"],
  ])("refuses the template %j with the position of the problem", (source, position, why) => {
    const error = refusedSource(source);
    expect(error.code).toBe("template_invalid");
    expect(error.message).toContain(`at character ${position}: `);
    expect(error.message).toContain(why);
  });

  it("refuses a template that is too long, or whose rendered text is", () => {
    expect(refusedSource("x".repeat(4_097)).message).toContain("has 4097 characters; at most 4096");
    expect(refusedSource("xxx", { maxLength: 2 }).code).toBe("template_invalid");
    const template = new Template("{payload.v}", { maxRendered: 10 });
    expect(template.render({ payload: { v: "x".repeat(10) } })).toHaveLength(10);
    expect(refusalOf(() => template.render({ payload: { v: "x".repeat(11) } })).code).toBe("template_value_invalid");
  });

  it.each([
    ["a{payload.missing}", "{payload.missing} at character 2 has no value: payload.missing does not exist."],
    ["{payload.customer.x.y}", "payload.customer.x does not exist."],
    ["{payload.customer.name.length}", "payload.customer.name.length does not exist."],
    ["{payload.items.2.sku}", "payload.items.2 does not exist."],
    ["{payload.nothing}", "payload.nothing is null."],
    ["{payload.nothing.deeper}", "payload.nothing.deeper does not exist."],
    ["{payload.toString}", "payload.toString does not exist."],
    ["{payload.hasOwnProperty}", "payload.hasOwnProperty does not exist."],
  ])("refuses to render %j without a value", (source, why) => {
    const error = refusedValue(source);
    expect(error.code).toBe("template_value_missing");
    expect(error.message).toContain(why);
  });

  it.each([
    ["{payload.customer}", "payload.customer is an object"],
    ["{payload.items}", "payload.items is a list"],
    ["{payload}", "payload is an object"],
  ])("refuses to render %j, whose value is not a scalar", (source, why) => {
    const error = refusedValue(source);
    expect(error.code).toBe("template_value_invalid");
    expect(error.message).toContain(why);
  });

  it("accepts the roots of its field only", () => {
    const template = new Template("{run.id}/{payload.a}", { roots: ["payload", "run"] });
    expect(template.render({ run: { id: "r1" }, payload: { a: 1 } })).toBe("r1/1");
    expect(refusalOf(() => template.render({ payload: { a: 1 } })).message).toContain("run does not exist.");
    expect(refusedSource("{env.HOME}", { roots: ["payload", "run"] }).message).toContain("payload or run");
  });

  it("renders or refuses any template over any data, and reads nothing but the data", () => {
    const sources = fc.stringMatching(/^[{}a-z._0-9]{0,20}$/).map((tail) => `{payload.${tail}`);
    fc.assert(
      fc.property(sources, fc.jsonValue(), (source, value) => {
        const outcome = outcomeOf(() => new Template(source).render({ payload: value }));
        expect(outcome).not.toContain("native code");
      }),
    );
  });
});

function outcomeOf(act: () => string): string {
  try {
    return act();
  } catch (error) {
    if (error instanceof CarillonError) return error.code;
    throw error;
  }
}
