import { logLevels, type LogLine, type NoteContent, noteLimits, type RunNote } from "@carillon/core";
import { type Static, Type } from "typebox";
import { tokenHashPattern, workerLimits } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import { readBody } from "../check/read-body.js";
import { object, stringEnum, Text, WholeNumber } from "../fields.js";
import { type Operation, singleAnswer } from "../operation.js";
import { ifOneOf } from "../rules.js";
import { AgoMs, Fence, RunRef, runUuid, workerCall, workerCallErrors } from "./worker-protocol.js";
import { WorkerRef } from "./worker.js";

const stateKinds = [
  "checkpoint",
  "checkpoint_load",
  "progress",
  "log",
  "step",
  "step_load",
  "once_begin",
  "once_end",
  "last_success",
  "upstream",
  "callback",
  "heartbeat",
] as const;

const Line = object("StateLogLine", {
  number: WholeNumber(
    1,
    2_147_483_647,
    "The number of the line within the attempt, from 1: a line that is sent twice is stored once",
  ),
  level: stringEnum(logLevels),
  message: Type.String({ maxLength: noteLimits.logLineBytes }),
  fields_json: Type.Optional(Type.String({ maxLength: noteLimits.logLineBytes, description: "An object as JSON" })),
  ago_ms: AgoMs("How long before this call it was written"),
});

const Name = (description: string) => Type.String({ minLength: 1, maxLength: noteLimits.nameLength, description });

/** The fields that a kind of request needs. */
const neededFields = {
  checkpoint: ["number", "value_json"],
  progress: ["number", "fraction"],
  log: ["lines"],
  step: ["name", "value_json"],
  step_load: ["name"],
  once_begin: ["key", "keep_ms"],
  once_end: ["key", "value_json"],
  callback: ["token_hash"],
} as const;

export const StateRequest = object(
  "StateRequest",
  {
    run_id: RunRef,
    fence: Fence,
    kind: stringEnum(stateKinds),
    number: Type.Optional(
      WholeNumber(1, Number.MAX_SAFE_INTEGER, "For a checkpoint or progress: increases within the attempt"),
    ),
    value_json: Type.Optional(
      Type.String({
        maxLength: noteLimits.valueBytes,
        description: "For a checkpoint, step or once_end: the value, as JSON",
      }),
    ),
    fraction: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "For progress" })),
    text: Type.Optional(Type.String({ maxLength: noteLimits.progressTextLength, description: "For progress" })),
    name: Type.Optional(Name("For a step: its name")),
    key: Type.Optional(Name("For a once: its key")),
    keep_ms: Type.Optional(WholeNumber(1, noteLimits.maxOnceKeepMs, "For a once_begin: how long the result is kept")),
    token_hash: Type.Optional(
      Type.String({
        pattern: tokenHashPattern,
        description: "For a callback: the SHA-256 of the token with which another caller may end the run",
      }),
    ),
    lines: Type.Optional(Type.Array(Line, { maxItems: noteLimits.logLines, description: "For a log: its lines" })),
  },
  {
    description: "State that a handler stores or loads",
    examples: [
      { run_id: "run_01k9zq3v5e0r8t2b7n4m6x1c9d", fence: 1, kind: "progress", number: 1, fraction: 0.5, text: "half" },
    ],
    allOf: Object.entries(neededFields).map(([kind, required]) => ifOneOf("kind", [kind], { required })),
  },
);
export type StateRequest = Static<typeof StateRequest>;

const WorkerState = object("WorkerState", {
  requests: Type.Array(StateRequest, { maxItems: workerLimits.stateRequests }),
});
type WorkerState = Static<typeof WorkerState>;

const StateAnswer = object("StateAnswer", {
  kind: stringEnum(["done", "value", "busy", "lost", "refused"], {
    description:
      "done: stored, or there is no value; busy: another run is executing it; lost: another worker has the run; refused: the " +
      "value cannot be stored",
  }),
  value_json: Type.Optional(Text("The requested value, as JSON")),
  at: Type.Optional(Type.Number({ description: "When it was stored, in milliseconds since 1970" })),
  message: Type.Optional(Text("Why it was refused")),
});

export const WorkerStateAnswer = object("WorkerStateAnswer", {
  answers: Type.Array(StateAnswer, { description: "One for each request, in the same order" }),
});
export type WorkerStateAnswer = Static<typeof WorkerStateAnswer>;

export const exchangeState = {
  ...workerCall,
  path: "/v1/workers/{id}:state",
  summary: "Store and load the state of handlers",
  description:
    "Checkpoints, progress, log lines, results of steps. The worker may send a request again if it got no answer. A claim that " +
    "has ended is reported in the answer, not as an error.",
  params: WorkerRef,
  body: WorkerState,
  bodyBytes: workerLimits.stateBytes,
  ...singleAnswer(WorkerStateAnswer, "The result for each item", workerCallErrors),
} as const satisfies Operation;

/** Reads the state requests of handlers; each must have the fields that its kind needs. */
export function readStateRequests(body: unknown): readonly RunNote[] {
  return readBody(WorkerState, body, ({ requests = [] }, findings) =>
    requests.flatMap((request: StateRequest | undefined, index) => {
      // An item with a fault was recorded and left out.
      if (request === undefined) return [];
      const content = contentOf(request);
      if (typeof content !== "string") return [{ ...content, runId: runUuid(request.run_id), fence: request.fence }];
      missing(findings, index, content, request.kind);
      return [];
    }),
  );
}

function missing(findings: Findings, index: number, name: string, kind: string): void {
  findings.add(`/requests/${index}/${name}`, "field_missing", `${name} is required in a ${kind}.`);
}

/** The content, or the name of a missing field. */
function contentOf(request: StateRequest): NoteContent | string {
  switch (request.kind) {
    case "checkpoint":
    case "progress":
      return numberedContent(request);
    case "step":
    case "step_load":
      return stepContent(request);
    case "once_begin":
    case "once_end":
      return onceContent(request);
    case "callback":
      return request.token_hash === undefined ? "token_hash" : { kind: "callback", tokenHash: request.token_hash };
    case "log":
      return request.lines === undefined ? "lines" : { kind: "log", lines: request.lines.map(lineOf) };
    default:
      return { kind: request.kind };
  }
}

function numberedContent({ kind, number, value_json: valueJson, fraction, text }: StateRequest): NoteContent | string {
  if (number === undefined) return "number";
  if (kind === "checkpoint") return valueJson === undefined ? "value_json" : { kind, number, valueJson };
  return fraction === undefined ? "fraction" : { kind: "progress", number, fraction, text: text ?? null };
}

function stepContent({ kind, name, value_json: valueJson }: StateRequest): NoteContent | string {
  if (name === undefined) return "name";
  if (kind === "step_load") return { kind, name };
  return valueJson === undefined ? "value_json" : { kind: "step", name, valueJson };
}

function onceContent({ kind, key, keep_ms: keepMs, value_json: valueJson }: StateRequest): NoteContent | string {
  if (key === undefined) return "key";
  if (kind === "once_begin") return keepMs === undefined ? "keep_ms" : { kind, key, keepMs };
  return valueJson === undefined ? "value_json" : { kind: "once_end", key, valueJson };
}

function lineOf({ number, level, message, fields_json: fieldsJson, ago_ms: agoMs }: WireLine): LogLine {
  return { number, level, message, fieldsJson: fieldsJson ?? null, agoMs };
}

type WireLine = NonNullable<StateRequest["lines"]>[number];
