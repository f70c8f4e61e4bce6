import type { LogLine, NoteContent, RunNote } from "@carillon/core";
import { type WorkerNote, WorkerNotes } from "../schema/worker-notes.js";
import type { Findings } from "../check/findings.js";
import { readBody } from "./body.js";
import { runUuid } from "./worker-protocol.js";

/** What handlers left behind or ask for, each with all that its kind needs. */
export function readNotes(body: unknown): readonly RunNote[] {
  return readBody(WorkerNotes, body, ({ notes = [] }, findings) =>
    notes.flatMap((note: WorkerNote | undefined, index) => {
      // A faulty item was recorded and left out.
      if (note === undefined) return [];
      const content = contentOf(note);
      if (typeof content !== "string") return [{ ...content, runId: runUuid(note.run_id), fence: note.fence }];
      missing(findings, index, content, note.kind);
      return [];
    }),
  );
}

function missing(findings: Findings, index: number, name: string, kind: string): void {
  findings.add(`/notes/${index}/${name}`, "field_missing", `${name} is required in a ${kind}`);
}

/** The content, or the name of what it lacks. */
function contentOf(note: WorkerNote): NoteContent | string {
  switch (note.kind) {
    case "checkpoint":
    case "progress":
      return numbered(note);
    case "step":
    case "step_load":
      return stepOf(note);
    case "once_begin":
    case "once_end":
      return onceOf(note);
    case "callback":
      return note.token_hash === undefined ? "token_hash" : { kind: "callback", tokenHash: note.token_hash };
    case "log":
      return note.lines === undefined ? "lines" : { kind: "log", lines: note.lines.map(lineOf) };
    default:
      return { kind: note.kind };
  }
}

function numbered({ kind, number, value_json: valueJson, fraction, text }: WorkerNote): NoteContent | string {
  if (number === undefined) return "number";
  if (kind === "checkpoint") return valueJson === undefined ? "value_json" : { kind, number, valueJson };
  return fraction === undefined ? "fraction" : { kind: "progress", number, fraction, text: text ?? null };
}

function stepOf({ kind, name, value_json: valueJson }: WorkerNote): NoteContent | string {
  if (name === undefined) return "name";
  if (kind === "step_load") return { kind, name };
  return valueJson === undefined ? "value_json" : { kind: "step", name, valueJson };
}

function onceOf({ kind, key, keep_ms: keepMs, value_json: valueJson }: WorkerNote): NoteContent | string {
  if (key === undefined) return "key";
  if (kind === "once_begin") return keepMs === undefined ? "keep_ms" : { kind, key, keepMs };
  return valueJson === undefined ? "value_json" : { kind: "once_end", key, valueJson };
}

function lineOf({ number, level, message, fields_json: fieldsJson, ago_ms: agoMs }: WireLine): LogLine {
  return { number, level, message, fieldsJson: fieldsJson ?? null, agoMs };
}

type WireLine = NonNullable<WorkerNote["lines"]>[number];
