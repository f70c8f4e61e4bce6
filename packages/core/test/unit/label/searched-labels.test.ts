import { describe, expect, it } from "vitest";
import { shownLabels, storedLabels } from "../../../src/index.js";

const stored = (payload: unknown, ...searchable: string[]) =>
  storedLabels({ labels: { team: "a" }, policy: { searchable }, payload });

describe("values of a payload by which runs are found", () => {
  it("stores searchable strings, numbers and booleans of a payload as labels", () => {
    const payload = { customer: { id: 42, vip: true, name: "Ann" }, none: null, list: [1], far: { a: {} } };
    expect(stored(payload, "customer.id", "customer.vip", "customer.name", "none", "list", "far.a", "gone.x")).toEqual({
      team: "a",
      "$.customer.id": "42",
      "$.customer.vip": "true",
      "$.customer.name": "Ann",
    });
  });

  it.each([[null], ["text"], [7], [[1]], [{ constructor: 1 }]])(
    "stores no labels for the payload %j, which lacks the path",
    (payload) => {
      expect(stored(payload, "a", "toString", "constructor.name")).toEqual({ team: "a" });
    },
  );

  it("leaves out strings beyond the maximum length", () => {
    expect(stored({ a: "x".repeat(257) }, "a")).toEqual({ team: "a" });
  });

  it("replaces the labels of another payload and hides them from users", () => {
    const before = { team: "a", "$.id": "1" };
    const after = storedLabels({ labels: before, policy: { searchable: ["other"] }, payload: { other: 2 } });
    expect(after).toEqual({ team: "a", "$.other": "2" });
    expect(shownLabels(after)).toEqual({ team: "a" });
  });

  it("returns the same object for a policy without searchable paths", () => {
    const labels = { team: "a" };
    expect(storedLabels({ labels, policy: {}, payload: { a: 1 } })).toBe(labels);
  });
});
