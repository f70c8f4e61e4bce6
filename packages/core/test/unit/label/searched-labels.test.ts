import { describe, expect, it } from "vitest";
import { shownLabels, storedLabels } from "../../../src/index.js";

const stored = (payload: unknown, ...searchable: string[]) =>
  storedLabels({ labels: { team: "a" }, policy: { searchable }, payload });

describe("values of a payload by which runs are found", () => {
  it("are labels of their own, for what a filter can name: texts, numbers and truth values", () => {
    const payload = { customer: { id: 42, vip: true, name: "Ann" }, none: null, list: [1], far: { a: {} } };
    expect(stored(payload, "customer.id", "customer.vip", "customer.name", "none", "list", "far.a", "gone.x")).toEqual({
      team: "a",
      "$.customer.id": "42",
      "$.customer.vip": "true",
      "$.customer.name": "Ann",
    });
  });

  it.each([[null], ["text"], [7], [[1]], [{ constructor: 1 }]])("are none where the payload %j has none", (payload) => {
    expect(stored(payload, "a", "toString", "constructor.name")).toEqual({ team: "a" });
  });

  it("leave out texts too long to be a name of anything", () => {
    expect(stored({ a: "x".repeat(257) }, "a")).toEqual({ team: "a" });
  });

  it("take the place of those of another payload, and are not shown as labels", () => {
    const before = { team: "a", "$.id": "1" };
    const after = storedLabels({ labels: before, policy: { searchable: ["other"] }, payload: { other: 2 } });
    expect(after).toEqual({ team: "a", "$.other": "2" });
    expect(shownLabels(after)).toEqual({ team: "a" });
  });

  it("cost nothing where none are declared: the labels are the same object", () => {
    const labels = { team: "a" };
    expect(storedLabels({ labels, policy: {}, payload: { a: 1 } })).toBe(labels);
  });
});
