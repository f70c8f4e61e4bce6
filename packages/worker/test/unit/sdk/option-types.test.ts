import { operations } from "@carillon/contract";
import type { Option, OptionValue } from "@carillon/contract/check";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { followOptions } from "../../../src/executors/follow-work.js";
import type { textRules } from "../../../src/executors/payload-reader.js";
import type {
  EnqueueItem,
  EnqueueOptions,
  FollowOptions,
  OnceOptions,
  ScheduleOptions,
  TextRules,
  WorkerSettings,
} from "../../../src/index.js";
import type { onceOptions } from "../../../src/runtime/handler-state.js";
import {
  type enqueueItems,
  enqueueOptions,
  scheduleOptions,
  type taskOptions,
  type workerSettings,
} from "../../../src/sdk/call-options.js";
import { runDefaultFields } from "../../../src/sdk/run-options.js";
import type { PlainTaskOptions, RunDefaults, TaskOptions } from "../../../src/sdk/task.js";

/** An interface and the same members written out are the same type after this. */
type Plain<Type> = { [Name in keyof Type]: Type[Name] };
type KeysOfEach<Union> = Union extends unknown ? keyof Union : never;
type Defaults = { readonly [Name in keyof typeof runDefaultFields]?: OptionValue<(typeof runDefaultFields)[Name]> };

describe("the schemas of options", () => {
  it("allow the values that the exported types allow, and no others", () => {
    expectTypeOf<OptionValue<typeof enqueueOptions>>().toEqualTypeOf<Plain<EnqueueOptions>>();
    expectTypeOf<OptionValue<typeof scheduleOptions>>().toEqualTypeOf<Plain<ScheduleOptions<unknown>>>();
    expectTypeOf<OptionValue<typeof workerSettings>>().toEqualTypeOf<Plain<WorkerSettings>>();
    expectTypeOf<Defaults>().toEqualTypeOf<Plain<RunDefaults>>();
    expectTypeOf<OptionValue<typeof textRules>>().toEqualTypeOf<Plain<TextRules>>();
    expectTypeOf<OptionValue<typeof followOptions>>().toEqualTypeOf<Plain<FollowOptions>>();
    expectTypeOf<OptionValue<typeof onceOptions>>().toEqualTypeOf<Plain<OnceOptions>>();
    // The compiler requires the payload of an item, and null or undefined are payloads at run time.
    expectTypeOf<Plain<Omit<OptionValue<typeof enqueueItems>[number], "payload">>>().toEqualTypeOf<
      Plain<Omit<EnqueueItem<unknown>, "payload">>
    >();
    // The types of handlers and schemas depend on each other.
    expectTypeOf<keyof OptionValue<typeof taskOptions>>().toEqualTypeOf<
      KeysOfEach<TaskOptions<unknown, unknown, unknown> | PlainTaskOptions<unknown, unknown>>
    >();
  });

  const { createRun, createJob } = operations;
  const runFields = createRun.body.properties;
  const { schedule, ...jobFields } = createJob.body.properties;
  /** The options of a call are the fields of the API but for those that are arguments, and the parent that ctx.enqueue names. */
  const without = (fields: object, names: readonly string[]): object =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
  const ofEachRun = ["payload", "delay", "run_at", "labels", "owner", "dedupe", "parent_id"];

  it.each<[string, Option<unknown>, object]>([
    ["enqueue", enqueueOptions, without(runFields, ["task", "payload", "parent_id"])],
    [
      "schedule",
      scheduleOptions,
      {
        ...without(jobFields, ["task", "key"]),
        // A run takes a delay, and starts at once without one.
        ...without(schedule.properties, ["delay", "now"]),
      },
    ],
    ["task", { properties: runDefaultFields }, without(runFields, ["task", ...ofEachRun])],
  ])("of %s have the fields of the API with the same limits", (_name, options, fields) => {
    const wanted = Object.entries(fields) as [string, Schema][];
    expect(Object.keys(options.properties ?? {}).sort()).toEqual(wanted.map(([name]) => camel(name)).sort());
    const limits = wanted.map(([name]) => [name, limitsOf((options.properties?.[camel(name)] ?? {}) as Schema)]);
    expect(limits).toEqual(wanted.map(([name, field]) => [name, wireLimitsOf(field)]));
  });
});

type Schema = Readonly<Record<string, unknown>>;

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const keywords = [
  "enum",
  "minLength",
  "minimum",
  "maximum",
  "pattern",
  "minItems",
  "maxItems",
  "maxProperties",
  "const",
];

/** Texts that are parsed, durations and times, are checked by their parser in place of a length. */
const isParsed = ({ format }: Schema): boolean =>
  format === "carillon-duration" || format === "date-time" || format === "local-date-time";

function wireLimitsOf(schema: Schema): unknown {
  if (isParsed(schema)) return "parsed";
  return membersOf(schema, wireLimitsOf, camel);
}

function limitsOf(schema: Schema): unknown {
  if (typeof schema["check"] === "function" && schema["properties"] === undefined) return "parsed";
  return membersOf(schema, limitsOf, (name) => name);
}

function membersOf(schema: Schema, limits: (inner: Schema) => unknown, rename: (name: string) => string): unknown {
  const own = [...keywords, "maxLength"].filter((keyword) => schema[keyword] !== undefined);
  const inner = ["items", "additionalProperties", "propertyNames"].filter((name) => typeof schema[name] === "object");
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>);
  const required = (schema["required"] ?? []) as readonly string[];
  return {
    ...Object.fromEntries(own.map((keyword) => [keyword, schema[keyword]])),
    ...Object.fromEntries(inner.map((name) => [name, limits(schema[name] as Schema)])),
    ...Object.fromEntries(properties.map(([name, one]) => [`.${rename(name)}`, limits(one)])),
    required: required.map(rename).sort(),
  };
}
