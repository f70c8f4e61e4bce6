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
  ])("renders %j", (source, expected) => {
    expect(new Template(source).render({ payload })).toBe(expected);
  });

  it("names the paths that it needs", () => {
    expect(new Template("{payload.a}-{payload.b.0}").paths).toEqual(["payload.a", "payload.b.0"]);
    expect(new Template("{{payload.a}}").paths).toEqual([]);
  });

  it("gives any text back when its braces are doubled", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const doubled = text.replaceAll("{", "{{").replaceAll("}", "}}");
        expect(new Template(doubled).render({})).toBe(text);
      }),
    );
  });

  it("puts values in as they are, braces and all", () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(new Template("<{payload.v}>").render({ payload: { v: value } })).toBe(`<${value}>`);
      }),
    );
  });

  it.each([
    ["a {payload.b", 3, "a { that nothing closes"],
    ["a } b", 3, "a } that closes nothing"],
    ["{payload.a}}", 12, "a } that closes nothing"],
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
    ["{payload.__proto__.x}", 1, "the name __proto__ is not allowed"],
    ["{payload.constructor}", 1, "the name constructor is not allowed"],
    ["{payload.a.prototype}", 1, "the name prototype is not allowed"],
    [`{payload${".a".repeat(16)}}`, 1, "has more than 16 names"],
    [`${"{payload.a}".repeat(64)}x{payload.a}`, 706, "more than 64 places"],
  ])("refuses %j and says where it is wrong", (source, position, why) => {
    const error = refusedSource(source);
    expect(error.code).toBe("template_invalid");
    expect(error.message).toContain(`at character ${position}: `);
    expect(error.message).toContain(why);
  });

  it("refuses a template that is too long, and one that renders to too much", () => {
    expect(refusedSource("x".repeat(4_097)).message).toContain("has 4097 characters; at most 4096");
    expect(refusedSource("xxx", { maxLength: 2 }).code).toBe("template_invalid");
    const template = new Template("{payload.v}", { maxRendered: 10 });
    expect(template.render({ payload: { v: "x".repeat(10) } })).toHaveLength(10);
    expect(refusalOf(() => template.render({ payload: { v: "x".repeat(11) } })).code).toBe("template_value_invalid");
  });

  it.each([
    ["a{payload.missing}", "{payload.missing} at character 2 has no value: there is no payload.missing"],
    ["{payload.customer.x.y}", "there is no payload.customer.x"],
    ["{payload.customer.name.length}", "there is no payload.customer.name.length"],
    ["{payload.items.2.sku}", "there is no payload.items.2"],
    ["{payload.nothing}", "payload.nothing is null"],
    ["{payload.nothing.deeper}", "there is no payload.nothing.deeper"],
    ["{payload.toString}", "there is no payload.toString"],
    ["{payload.hasOwnProperty}", "there is no payload.hasOwnProperty"],
  ])("refuses %j for want of a value", (source, why) => {
    const error = refusedValue(source);
    expect(error.code).toBe("template_value_missing");
    expect(error.message).toContain(why);
  });

  it.each([
    ["{payload.customer}", "payload.customer is an object"],
    ["{payload.items}", "payload.items is a list"],
    ["{payload}", "payload is an object"],
  ])("refuses %j: its value is no text", (source, why) => {
    const error = refusedValue(source);
    expect(error.code).toBe("template_value_invalid");
    expect(error.message).toContain(why);
  });

  it("takes the roots that its field allows", () => {
    const template = new Template("{run.id}/{payload.a}", { roots: ["payload", "run"] });
    expect(template.render({ run: { id: "r1" }, payload: { a: 1 } })).toBe("r1/1");
    expect(refusalOf(() => template.render({ payload: { a: 1 } })).message).toContain("there is no run");
    expect(refusedSource("{env.HOME}", { roots: ["payload", "run"] }).message).toContain("payload or run");
  });

  it("renders or refuses any template over any data, and reaches nothing but the data", () => {
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
