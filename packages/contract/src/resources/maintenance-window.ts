import {
  checkWindow,
  isErrorCode,
  type MaintenanceWindow,
  maxDurationMs,
  present,
  type WindowTime,
} from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, patternWords, plainNameLength, plainNamePattern } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import { readBody } from "../check/read-body.js";
import {
  CronText,
  described,
  DurationText,
  InstantText,
  Labels,
  object,
  PlainName,
  readDuration,
  readInstant,
  stringEnum,
  TimeZoneText,
  Timestamp,
} from "../fields.js";
import { bodyErrors, type Operation, pageAnswer, singleAnswer, storeErrors, writeErrors } from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";
import { without } from "../rules.js";

const Mode = stringEnum(["hold", "skip"], {
  description: "hold: fires wait for the end of the window; skip: they are recorded in the ledger",
});

const Queue = Type.String({ minLength: 1, maxLength: limits.nameLength, description: "Only jobs of this queue" });
const Cron = CronText("A cron expression for when the window opens, repeatedly", "0 2 * * SUN");

const openBounds = { minMs: 1, maxMs: maxDurationMs };

export const WindowPut = object(
  "WindowPut",
  {
    name: Type.Optional(described(PlainName("sunday-night"), "The same as in the address")),
    mode: Mode,
    queue: Type.Optional(Queue),
    labels: Type.Optional(described(Labels, "Only jobs with all of these labels")),
    from: Type.Optional(InstantText("When the window opens, once")),
    to: Type.Optional(InstantText("When the window closes")),
    cron: Type.Optional(Cron),
    time_zone: Type.Optional(TimeZoneText("The time zone of cron; UTC by default")),
    duration: Type.Optional(DurationText("With cron: how long the window is open.", "2h", openBounds)),
  },
  {
    description:
      "Either from and to, or cron and duration. Without queue and labels the window applies to every job of the namespace.",
    examples: [{ mode: "hold", queue: "mail", cron: "0 2 * * SUN", time_zone: "Europe/Paris", duration: "2h" }],
    oneOf: [
      { required: ["from", "to"], ...without(["cron", "time_zone", "duration"]) },
      { required: ["cron", "duration"], ...without(["from", "to"]) },
    ],
    "x-carillon-rules": [
      { code: "field_invalid", rule: "name is the name in the address" },
      { code: "maintenance_window_invalid", rule: "to is later than from" },
      { code: "maintenance_window_invalid", rule: "duration is shorter than the time between two windows" },
    ],
  },
);
export type WindowPut = Static<typeof WindowPut>;

export const Window = object(
  "Window",
  {
    name: Type.String(),
    mode: Mode,
    queue: Type.Optional(Type.String()),
    labels: Type.Optional(Type.Record(Type.String(), Type.String())),
    from: Type.Optional(Timestamp),
    to: Type.Optional(Timestamp),
    cron: Type.Optional(Type.String()),
    time_zone: Type.Optional(Type.String()),
    duration: Type.Optional(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { description: "A maintenance window" },
);
export type Window = Static<typeof Window>;

export const WindowList = pageOf("WindowList", { maintenance_windows: Type.Array(Window) });
export type WindowList = Static<typeof WindowList>;

const Name = (example: string) => Type.Object({ name: PlainName(example) });
const readsCalendars = { tag: "Calendars", permission: "calendars:read", rateClass: "read", method: "GET" } as const;
const writesCalendars = { tag: "Calendars", permission: "calendars:write", rateClass: "write" } as const;

export const listWindows = {
  ...readsCalendars,
  path: "/v1/maintenance-windows",
  client: "maintenanceWindows.list",
  summary: "List maintenance windows by name",
  query: PageQuery,
  ...pageAnswer(WindowList),
} as const satisfies Operation;

export const getWindow = {
  ...readsCalendars,
  path: "/v1/maintenance-windows/{name}",
  client: "maintenanceWindows.get",
  summary: "Get a maintenance window",
  params: Name("sunday-night"),
  ...singleAnswer(Window, "The window"),
} as const satisfies Operation;

export const putWindow = {
  ...writesCalendars,
  method: "PUT",
  path: "/v1/maintenance-windows/{name}",
  client: "maintenanceWindows.put",
  summary: "Create or replace a maintenance window",
  description: "Once the call is answered, fires inside the window wait for its end or are skipped.",
  params: Name("sunday-night"),
  body: WindowPut,
  answers: {
    200: { description: "The window as it is now", schema: Window },
    201: { description: "The new window", schema: Window, headers: { Location: "The address of the resource" } },
  },
  errors: [
    ...bodyErrors,
    "maintenance_window_invalid",
    "cron_invalid",
    "cron_never_fires",
    "time_zone_unknown",
    "duration_invalid",
    "instant_invalid",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const deleteWindow = {
  ...writesCalendars,
  method: "DELETE",
  path: "/v1/maintenance-windows/{name}",
  client: "maintenanceWindows.delete",
  summary: "Delete a maintenance window",
  description: "Fires that waited for its end happen immediately.",
  params: Name("sunday-night"),
  answers: { 204: { description: "Deleted" } },
  errors: writeErrors,
} as const satisfies Operation;

const plainName = new RegExp(plainNamePattern);

/** The maintenance window of an address, for jobs of its own namespace only. */
export function readWindowPut(name: string, namespace: string, body: unknown): MaintenanceWindow {
  return readBody(WindowPut, body, (given, findings) => {
    if (name.length > plainNameLength || !plainName.test(name)) {
      const detail = `The name of a window is at most ${plainNameLength} ${patternWords.get(plainNamePattern)}.`;
      findings.add("/name", "maintenance_window_invalid", detail);
    }
    if (given.name !== undefined && given.name !== name) {
      findings.add(
        "/name",
        "field_invalid",
        `Must be the name in the address, ${JSON.stringify(name)}, or be left out.`,
      );
    }
    const { mode = "hold", queue, labels } = given;
    const scope = { namespace, ...present({ queue, labels }) };
    const window = { name, mode, scope, time: readTime(given, findings) ?? never };
    if (findings.size > 0) return window;
    for (const { pointer, code, detail } of checkWindow(window)) {
      findings.add(pointer, isErrorCode(code) ? code : "maintenance_window_invalid", detail);
    }
    return window;
  });
}

/** Takes the place of a time with faults, which are raised before the window is used. */
const never: WindowTime = { kind: "once", from: 0, to: 1 };

type Given = Partial<WindowPut>;

function readTime(given: Given, findings: Findings): WindowTime | undefined {
  const once = ["from", "to"] as const;
  const recurring = ["cron", "duration", "time_zone"] as const;
  const stray = recurring.find((field) => given[field] !== undefined);
  const isOnce = once.some((field) => given[field] !== undefined);
  if (isOnce && stray !== undefined) {
    const detail = "A window has either from and to, or cron and duration. This one has both.";
    findings.add(`/${stray}`, "maintenance_window_invalid", detail);
    return undefined;
  }
  return isOnce ? readOnce(given, findings) : readRecurring(given, findings);
}

function readOnce(given: Given, findings: Findings): WindowTime | undefined {
  const instant = (field: "from" | "to") => {
    if (given[field] !== undefined) return readInstant(given[field], `/${field}`, findings);
    findings.add(`/${field}`, "field_missing", `${field} is required beside ${field === "to" ? "from" : "to"}.`);
    return undefined;
  };
  const [from, to] = [instant("from"), instant("to")];
  return from === undefined || to === undefined ? undefined : { kind: "once", from, to };
}

function readRecurring(
  { cron, duration, time_zone: timeZone = "UTC" }: Given,
  findings: Findings,
): WindowTime | undefined {
  if (cron === undefined) {
    findings.add("/cron", "field_missing", "A window must have either from and to, or cron and duration.");
    return undefined;
  }
  if (duration === undefined) {
    findings.add("/duration", "field_missing", "duration is required beside cron: how long the window is open.");
    return undefined;
  }
  const durationMs = readDuration(duration, "/duration", findings);
  return durationMs === undefined ? undefined : { kind: "recurring", cron, timeZone, durationMs };
}
