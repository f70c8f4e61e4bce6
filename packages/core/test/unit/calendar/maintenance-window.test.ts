import { describe, expect, it } from "vitest";
import {
  type MaintenanceWindow,
  MaintenanceWindows,
  type WindowScope,
  type WindowTime,
  checkWindow,
} from "../../../src/calendar/maintenance-window.js";

const at = (text: string) => Date.parse(text);
const once = (from: string, to: string): WindowTime => ({ kind: "once", from: at(from), to: at(to) });
const nightly: WindowTime = { kind: "recurring", cron: "0 2 * * SUN", timeZone: "Europe/Paris", durationMs: 3_600_000 };
const window = (name: string, time: WindowTime, more: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  name,
  mode: "hold",
  scope: { namespace: "default" },
  time,
  ...more,
});
const mail = { namespace: "default", queue: "mail", labels: { team: "billing", tier: "1" } };

function windowAt(windows: MaintenanceWindow[], instant: string): string | null {
  const active = new MaintenanceWindows(windows).windowAt(at(instant), mail);
  return active === null
    ? null
    : `${active.window.name} ${active.window.mode} until ${new Date(active.until).toISOString().slice(0, 16)}Z`;
}

describe("a maintenance window", () => {
  const upgrade = window("upgrade", once("2026-11-20T10:00Z", "2026-11-20T12:00Z"));

  it("a maintenance window covers its first instant and not its last", () => {
    expect(windowAt([upgrade], "2026-11-20T09:59:59.999Z")).toBeNull();
    expect(windowAt([upgrade], "2026-11-20T10:00Z")).toBe("upgrade hold until 2026-11-20T12:00Z");
    expect(windowAt([upgrade], "2026-11-20T11:59:59.999Z")).toBe("upgrade hold until 2026-11-20T12:00Z");
    expect(windowAt([upgrade], "2026-11-20T12:00Z")).toBeNull();
  });

  it("a maintenance window recurs by its cron expression in its zone", () => {
    const windows = [window("backup", nightly)];
    expect(windowAt(windows, "2026-11-15T01:30Z")).toBe("backup hold until 2026-11-15T02:00Z");
    expect(windowAt(windows, "2026-11-15T02:00Z")).toBeNull();
    expect(windowAt(windows, "2026-07-05T00:30Z")).toBe("backup hold until 2026-07-05T01:00Z");
    expect(windowAt(windows, "2026-11-16T01:30Z")).toBeNull();
  });

  it.each<[string, WindowScope, boolean]>([
    ["its namespace", { namespace: "default" }, true],
    ["another namespace", { namespace: "other" }, false],
    ["its queue", { queue: "mail" }, true],
    ["another queue", { namespace: "default", queue: "pdf" }, false],
    ["one of its labels", { labels: { team: "billing" } }, true],
    ["all of its labels", { labels: { team: "billing", tier: "1" } }, true],
    ["a label with another value", { labels: { team: "billing", tier: "2" } }, false],
    ["a label that it does not have", { labels: { constructor: "x" } }, false],
  ])("a maintenance window applies by its scope: %s", (_, scope, applies) => {
    expect(windowAt([{ ...upgrade, scope }], "2026-11-20T11:00Z") !== null).toBe(applies);
  });

  it("a maintenance window of mode skip wins over one of mode hold", () => {
    const skip = window("freeze", once("2026-11-20T11:00Z", "2026-11-20T11:30Z"), { mode: "skip" });
    expect(windowAt([upgrade, skip], "2026-11-20T11:15Z")).toBe("freeze skip until 2026-11-20T12:00Z");
    expect(windowAt([upgrade, skip], "2026-11-20T11:45Z")).toBe("upgrade hold until 2026-11-20T12:00Z");
  });

  it("a maintenance window holds until no window covers the subject any more", () => {
    const later = window("network", once("2026-11-20T11:30Z", "2026-11-20T14:00Z"));
    const last = window("storage", once("2026-11-20T14:00Z", "2026-11-20T15:00Z"));
    expect(windowAt([last, upgrade, later], "2026-11-20T10:30Z")).toBe("upgrade hold until 2026-11-20T15:00Z");
    const elsewhere = { ...later, scope: { namespace: "other" } };
    expect(windowAt([elsewhere, upgrade], "2026-11-20T10:30Z")).toBe("upgrade hold until 2026-11-20T12:00Z");
  });

  it("refuses a maintenance window that never ends, ends before it begins, has no scope, or an invalid rule", () => {
    const problems = (one: MaintenanceWindow) => checkWindow(one).map(({ pointer, code }) => `${pointer} ${code}`);
    expect(problems(window("ok", nightly))).toEqual([]);
    expect(problems({ ...upgrade, scope: {} })).toEqual(["/scope maintenance_window_invalid"]);
    expect(problems(window("back", once("2026-11-20T12:00Z", "2026-11-20T10:00Z")))).toEqual([
      "/to maintenance_window_invalid",
    ]);
    const hourly = (durationMs: number): WindowTime => ({
      kind: "recurring",
      cron: "0 * * * *",
      timeZone: "UTC",
      durationMs,
    });
    expect(problems(window("long", hourly(3_600_000)))).toEqual(["/duration maintenance_window_invalid"]);
    expect(problems(window("none", hourly(0)))).toEqual(["/duration maintenance_window_invalid"]);
    expect(problems(window("cron", { ...nightly, cron: "0 25 * * *" }))).toEqual(["/cron cron_invalid"]);
    expect(problems(window("zone", { ...nightly, timeZone: "Mars/Base" }))).toEqual(["/time_zone time_zone_unknown"]);
  });
});
