import { requirementsOf } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { whoServes, whyUnserved } from "../../../src/dispatch/sessions/why-unserved.js";
import type { SessionKind } from "@carillon/store";

const kind = (over: Partial<SessionKind> = {}): SessionKind => ({
  queues: ["mail"],
  state: "active",
  count: 1,
  slots: 10,
  ...over,
});
const run = { task: "pdf", queue: "mail", policy: {} };
const asking = (asked: Parameters<typeof requirementsOf>[0]) => ({
  ...run,
  policy: { requires: requirementsOf(asked) },
});

describe("whyUnserved", () => {
  it("reports that no worker has the task of a run", () => {
    expect(whyUnserved(run, [])).toEqual({ code: "no_worker_for_task", detail: "no worker serves task pdf" });
  });

  it("reports that no worker serves the queue of a run, by its name or all of them", () => {
    expect(whyUnserved(run, [kind({ queues: ["other"] })])).toMatchObject({ code: "no_worker_for_queue" });
    expect(whyUnserved(run, [kind({ queues: ["*"] })])).toBeNull();
    const all = [kind(), kind({ queues: ["other"] }), kind({ queues: ["*"], count: 2, slots: 5 })];
    expect(whoServes(run, all)).toEqual({ workers: 3, slots: 15 });
  });

  it("reports that no worker has the required version of the task", () => {
    expect(whyUnserved(asking({ version: "3" }), [kind({ versions: { pdf: ["2"] } })])).toEqual({
      code: "no_worker_for_version",
      detail: "no worker has version 3 of task pdf",
    });
    expect(whyUnserved(asking({ version: "3" }), [kind({ versions: { pdf: ["3"] } })])).toBeNull();
  });

  it("reports that no worker has the required labels", () => {
    const wanted = asking({ labels: { gpu: "a100", zone: "eu" } });
    expect(whyUnserved(wanted, [kind({ labels: { gpu: "a100" } })])).toEqual({
      code: "no_worker_with_labels",
      detail: "no worker that has task pdf has the labels gpu=a100, zone=eu",
    });
    expect(whyUnserved(wanted, [kind({ labels: { gpu: "a100", zone: "eu" } })])).toBeNull();
  });

  it("reports that only spot workers could take a run that does not allow them", () => {
    expect(whyUnserved(run, [kind({ isSpot: true })])).toMatchObject({ code: "only_spot_workers" });
    expect(whyUnserved(asking({ allowsSpot: true }), [kind({ isSpot: true })])).toBeNull();
  });

  it("reports that every worker that could take a run is cordoned", () => {
    const cordoned = [kind({ state: "cordoned", count: 2 }), kind({ state: "draining" })];
    expect(whyUnserved(run, cordoned)).toEqual({
      code: "workers_cordoned",
      detail: "all 3 workers that could take it are cordoned or draining",
    });
    expect(whyUnserved(run, [...cordoned, kind()])).toBeNull();
  });

  it("reports a requirement that no single worker meets together with the others", () => {
    const kinds = [kind({ queues: ["other"] }), kind({ state: "cordoned" })];
    expect(whyUnserved(run, kinds)).toMatchObject({ code: "workers_cordoned" });
  });
});
