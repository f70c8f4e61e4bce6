import { checkWindow, type MaintenanceWindow, parseDuration, parseInstant, type WindowTime } from "@carillon/core";
import { type Findings, isErrorCode } from "../check/findings.js";
import { patternWords, plainNameLength, plainNamePattern } from "../schema/limits.js";
import { WindowPut } from "../schema/window.js";
import { readBody } from "./body.js";

const plainName = new RegExp(plainNamePattern);

/** The maintenance window of an address. It is about jobs of its own namespace only. */
export function readWindowPut(name: string, namespace: string, body: unknown): MaintenanceWindow {
  return readBody(WindowPut, body, (given, findings) => {
    if (name.length > plainNameLength || !plainName.test(name)) {
      const detail = `a window's name is at most ${plainNameLength} ${patternWords.get(plainNamePattern)}`;
      findings.add("/name", "maintenance_window_invalid", detail);
    }
    if (given.name !== undefined && given.name !== name) {
      findings.add("/name", "field_invalid", `the address says ${JSON.stringify(name)}; leave it out`);
    }
    const { mode = "hold", queue, labels } = given;
    const scope = { namespace, ...(queue !== undefined && { queue }), ...(labels !== undefined && { labels }) };
    const window = { name, mode, scope, time: timeOf(given, findings) ?? never };
    if (findings.size > 0) return window;
    for (const { pointer, code, detail } of checkWindow(window)) {
      findings.add(pointer, isErrorCode(code) ? code : "maintenance_window_invalid", detail);
    }
    return window;
  });
}

/** Stands where there is nothing sound: the faults are raised before anybody sees it. */
const never: WindowTime = { kind: "once", from: 0, to: 1 };

type Given = Partial<WindowPut>;

function timeOf(given: Given, findings: Findings): WindowTime | undefined {
  const once = ["from", "to"] as const;
  const recurring = ["cron", "duration", "time_zone"] as const;
  const stray = recurring.find((field) => given[field] !== undefined);
  const isOnce = once.some((field) => given[field] !== undefined);
  if (isOnce && stray !== undefined) {
    const detail = "a window has from and to, or cron and duration; this one has both";
    findings.add(`/${stray}`, "maintenance_window_invalid", detail);
    return undefined;
  }
  return isOnce ? onceOf(given, findings) : recurringOf(given, findings);
}

function onceOf(given: Given, findings: Findings): WindowTime | undefined {
  const instant = (field: "from" | "to") => {
    const text = given[field];
    if (text !== undefined) return findings.attempt(`/${field}`, () => parseInstant(text));
    findings.add(`/${field}`, "field_missing", `${field} is required beside ${field === "to" ? "from" : "to"}`);
    return undefined;
  };
  const [from, to] = [instant("from"), instant("to")];
  return from === undefined || to === undefined ? undefined : { kind: "once", from, to };
}

function recurringOf(
  { cron, duration, time_zone: timeZone = "UTC" }: Given,
  findings: Findings,
): WindowTime | undefined {
  if (cron === undefined) {
    findings.add("/cron", "field_missing", "a window says when it is: from and to, or cron and duration");
    return undefined;
  }
  if (duration === undefined) {
    findings.add("/duration", "field_missing", "duration is required beside cron: how long the window is open");
    return undefined;
  }
  const durationMs = findings.attempt("/duration", () => parseDuration(duration));
  return durationMs === undefined ? undefined : { kind: "recurring", cron, timeZone, durationMs };
}
