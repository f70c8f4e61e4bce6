import { logLevels, type LogLine, type NoteContent, noteLimits, type RunNote } from "@carillon/core";
import { type Static, Type } from "typebox";
import { tokenHashPattern, workerLimits } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import { readBody } from "../check/read-body.js";
import { stringEnum, object } from "../fields.js";
import type { Operation } from "../operation.js";
import { AgoMs, workerCallErrors, Fence, RunRef, runUuid, workerCall } from "./worker-protocol.js";
import { WorkerRef } from "./worker.js";

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

const Line = object("NotedLine", {
  number: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: "From 1 within the attempt: one that comes twice is shown once",
  }),
  level: stringEnum(logLevels),
  message: Type.String({ maxLength: noteLimits.logLineBytes }),
  fields_json: Type.Optional(Type.String({ maxLength: noteLimits.logLineBytes, description: "An object as JSON" })),
  ago_ms: AgoMs("How long before this call it was written"),
});

const Name = (description: string) => Type.String({ minLength: 1, maxLength: noteLimits.nameLength, description });

export const WorkerNote = object(
  "WorkerNote",
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
        maximum: noteLimits.longestOnceKeepMs,
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
  { description: "What a handler leaves behind, or asks for" },
);
export type WorkerNote = Static<typeof WorkerNote>;

const WorkerNotes = object("WorkerNotes", { notes: Type.Array(WorkerNote, { maxItems: workerLimits.notes }) });
type WorkerNotes = Static<typeof WorkerNotes>;

const NoteAnswer = object("NoteAnswer", {
  kind: stringEnum(["done", "value", "busy", "lost", "refused"], {
    description:
      "done: stored, or nothing there; busy: another run is at it; lost: the run is somebody else's; refused: it cannot be stored",
  }),
  value_json: Type.Optional(Type.String({ description: "What was asked for, as JSON" })),
  at: Type.Optional(Type.Number({ description: "Since when it is there, in milliseconds since 1970" })),
  message: Type.Optional(Type.String({ description: "Why it was refused" })),
});

export const WorkerNoted = object("WorkerNoted", {
  answers: Type.Array(NoteAnswer, { description: "One to each note, in their order" }),
});
export type WorkerNoted = Static<typeof WorkerNoted>;

export const noteRuns = {
  ...workerCall,
  path: "/v1/workers/{id}:note",
  summary: "Keep what handlers leave behind, answer what they ask for",
  description:
    "Checkpoints, progress, lines of log, results of steps. Every note may come again when its answer did not arrive. A claim that " +
    "is over is an answer.",
  params: WorkerRef,
  body: WorkerNotes,
  bodyBytes: workerLimits.noteBytes,
  answers: { 200: { description: "What became of each", schema: WorkerNoted } },
  errors: workerCallErrors,
} as const satisfies Operation;

/** Reads the notes of handlers; each must have the fields that its kind needs. */
export function readNotes(body: unknown): readonly RunNote[] {
  return readBody(WorkerNotes, body, ({ notes = [] }, findings) =>
    notes.flatMap((note: WorkerNote | undefined, index) => {
      // An item with a fault was recorded and left out.
      if (note === undefined) return [];
      const content = contentOf(note);
      if (typeof content !== "string") return [{ ...content, runId: runUuid(note.run_id), fence: note.fence }];
      missing(findings, index, content, note.kind);
      return [];
    }),
  );
}

function missing(findings: Findings, index: number, name: string, kind: string): void {
  findings.add(`/notes/${index}/${name}`, "field_missing", `${name} is required in a ${kind}.`);
}

/** The content, or the name of a missing field. */
function contentOf(note: WorkerNote): NoteContent | string {
  switch (note.kind) {
    case "checkpoint":
    case "progress":
      return numberedContent(note);
    case "step":
    case "step_load":
      return stepContent(note);
    case "once_begin":
    case "once_end":
      return onceContent(note);
    case "callback":
      return note.token_hash === undefined ? "token_hash" : { kind: "callback", tokenHash: note.token_hash };
    case "log":
      return note.lines === undefined ? "lines" : { kind: "log", lines: note.lines.map(lineOf) };
    default:
      return { kind: note.kind };
  }
}

function numberedContent({ kind, number, value_json: valueJson, fraction, text }: WorkerNote): NoteContent | string {
  if (number === undefined) return "number";
  if (kind === "checkpoint") return valueJson === undefined ? "value_json" : { kind, number, valueJson };
  return fraction === undefined ? "fraction" : { kind: "progress", number, fraction, text: text ?? null };
}

function stepContent({ kind, name, value_json: valueJson }: WorkerNote): NoteContent | string {
  if (name === undefined) return "name";
  if (kind === "step_load") return { kind, name };
  return valueJson === undefined ? "value_json" : { kind: "step", name, valueJson };
}

function onceContent({ kind, key, keep_ms: keepMs, value_json: valueJson }: WorkerNote): NoteContent | string {
  if (key === undefined) return "key";
  if (kind === "once_begin") return keepMs === undefined ? "keep_ms" : { kind, key, keepMs };
  return valueJson === undefined ? "value_json" : { kind: "once_end", key, valueJson };
}

function lineOf({ number, level, message, fields_json: fieldsJson, ago_ms: agoMs }: WireLine): LogLine {
  return { number, level, message, fieldsJson: fieldsJson ?? null, agoMs };
}

type WireLine = NonNullable<WorkerNote["lines"]>[number];
