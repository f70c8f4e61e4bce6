import { logLevels, noteLimits } from "@carillon/core";
import { Type, type Static } from "typebox";
import { tokenHashPattern, workerLimits } from "./limits.js";
import { stringEnum } from "./string-enum.js";
import { AgoMs, Fence, RunRef } from "./worker-protocol.js";

const noteKinds = [
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
  "alive",
] as const;

const Line = Type.Object(
  {
    number: Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: "From 1 within the attempt: one that comes twice is shown once",
    }),
    level: stringEnum(logLevels),
    message: Type.String({ maxLength: noteLimits.logLineBytes }),
    fields_json: Type.Optional(Type.String({ maxLength: noteLimits.logLineBytes, description: "An object as JSON" })),
    ago_ms: AgoMs("How long before this call it was written"),
  },
  { title: "NotedLine", additionalProperties: false },
);

const Name = (description: string) => Type.String({ minLength: 1, maxLength: noteLimits.nameLength, description });

export const WorkerNote = Type.Object(
  {
    run_id: RunRef,
    fence: Fence,
    kind: stringEnum(noteKinds),
    number: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "Of a checkpoint or a progress: grows within the attempt",
      }),
    ),
    value_json: Type.Optional(
      Type.String({
        maxLength: noteLimits.valueBytes,
        description: "Of a checkpoint, step or once_end: the value, as JSON",
      }),
    ),
    fraction: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Of a progress" })),
    text: Type.Optional(Type.String({ maxLength: noteLimits.progressTextLength, description: "Of a progress" })),
    name: Type.Optional(Name("Of a step")),
    key: Type.Optional(Name("Of a once")),
    keep_ms: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: noteLimits.maxOnceKeepMs,
        description: "Of a once_begin: how long the result is remembered",
      }),
    ),
    token_hash: Type.Optional(
      Type.String({
        pattern: tokenHashPattern,
        description: "Of a callback: the SHA-256 of a token by which somebody else may end the run",
      }),
    ),
    lines: Type.Optional(Type.Array(Line, { maxItems: noteLimits.logLines, description: "Of a log" })),
  },
  { title: "WorkerNote", additionalProperties: false, description: "What a handler leaves behind, or asks for" },
);

export const WorkerNotes = Type.Object(
  { notes: Type.Array(WorkerNote, { maxItems: workerLimits.notes }) },
  { title: "WorkerNotes", additionalProperties: false },
);

const NoteAnswer = Type.Object(
  {
    kind: stringEnum(["done", "value", "busy", "lost", "refused"], {
      description:
        "done: stored, or nothing there; busy: another run is at it; lost: the run is somebody else's; refused: it cannot be stored",
    }),
    value_json: Type.Optional(Type.String({ description: "What was asked for, as JSON" })),
    at: Type.Optional(Type.Number({ description: "Since when it is there, in milliseconds since 1970" })),
    message: Type.Optional(Type.String({ description: "Why it was refused" })),
  },
  { title: "NoteAnswer", additionalProperties: false },
);

export const WorkerNoted = Type.Object(
  { answers: Type.Array(NoteAnswer, { description: "One to each note, in their order" }) },
  { title: "WorkerNoted", additionalProperties: false },
);

export type WorkerNote = Static<typeof WorkerNote>;
export type WorkerNotes = Static<typeof WorkerNotes>;
export type WorkerNoted = Static<typeof WorkerNoted>;
