import { Emitter, type EventMap } from "@carillon/core";
import { describe, expect, it } from "vitest";

interface Numbers {
  readonly one: { readonly n: number };
  readonly two: { readonly n: number };
}

describe("Emitter", () => {
  it("tells subscribers of an event, in order, then those of all events", () => {
    const emitter = new Emitter<Numbers>();
    const heard: string[] = [];
    emitter.onAny((name, event) => heard.push(`any ${name} ${event.n}`));
    emitter.on("one", ({ n }) => heard.push(`first ${n}`));
    emitter.on("one", ({ n }) => heard.push(`second ${n}`));
    emitter.on("two", ({ n }) => heard.push(`two ${n}`));
    emitter.emit("one", { n: 1 });
    expect(heard).toEqual(["first 1", "second 1", "any one 1"]);
  });

  it("keeps what a subscriber throws from the emitter and from the other subscribers, and reports it", () => {
    const reported: unknown[] = [];
    const emitter = new Emitter<Numbers>((error, name) => reported.push(error, name));
    const heard: number[] = [];
    const fault = new Error("a metric failed");
    const fail = () => {
      throw fault;
    };
    emitter.on("one", fail);
    emitter.onAny(fail);
    emitter.on("one", ({ n }) => heard.push(n));
    expect(() => emitter.emit("one", { n: 5 })).not.toThrow();
    expect(heard).toEqual([5]);
    expect(reported).toEqual([fault, "one", fault, "one"]);
  });

  it("survives a reporter that throws, and the want of one", () => {
    const failing = () => {
      throw new Error("no");
    };
    for (const emitter of [new Emitter<Numbers>(failing), new Emitter<Numbers>()]) {
      emitter.on("one", failing);
      expect(() => emitter.emit("one", { n: 1 })).not.toThrow();
    }
  });

  it("ends each subscription by itself, though the function is the same", () => {
    const emitter = new Emitter<Numbers>();
    const heard: number[] = [];
    const listener = ({ n }: { n: number }) => void heard.push(n);
    const end = emitter.on("one", listener);
    emitter.on("one", listener);
    const endAny = emitter.onAny((_, event) => listener(event));
    end();
    end();
    emitter.emit("one", { n: 1 });
    endAny();
    emitter.emit("one", { n: 2 });
    expect(heard).toEqual([1, 1, 2]);
  });

  it("does not disturb an event that is being delivered when subscriptions begin or end meanwhile", () => {
    const emitter = new Emitter<Numbers>();
    const heard: string[] = [];
    emitter.on("one", () => {
      heard.push("first");
      endLast();
      emitter.on("one", () => heard.push("new"));
    });
    const endLast = emitter.on("one", () => heard.push("last"));
    emitter.emit("one", { n: 1 });
    expect(heard).toEqual(["first"]);
    emitter.emit("one", { n: 2 });
    expect(heard).toEqual(["first", "first", "new"]);
  });

  it("carries the events of nodes", () => {
    const emitter = new Emitter<EventMap>();
    const shards: number[] = [];
    emitter.on("shard.gained", ({ shard }) => shards.push(shard));
    emitter.emit("shard.gained", { shard: 7, epoch: 1 });
    emitter.emit("write.fenced", { what: "fire", count: 2 });
    expect(shards).toEqual([7]);
  });
});
