import type { LogLine, NoteAnswer, RunNote } from "@carillon/core";
import type { WorkerNote, WorkerNoted } from "@carillon/client";

export function notesJson(notes: readonly RunNote[]): string {
  return JSON.stringify({ notes: notes.map(wireNote) });
}

export function noteAnswerOf(answer: WorkerNoted["answers"][number]): NoteAnswer {
  const { kind, value_json: valueJson = "null", at = 0, message = "" } = answer;
  if (kind === "value") return { kind, valueJson, at };
  return kind === "refused" ? { kind, message } : { kind };
}

function wireNote(note: RunNote): WorkerNote {
  const claim = { run_id: note.runId, fence: note.fence };
  switch (note.kind) {
    case "checkpoint":
      return { ...claim, kind: note.kind, number: note.number, value_json: note.valueJson };
    case "progress": {
      const { kind, number, fraction, text } = note;
      return { ...claim, kind, number, fraction, ...(text !== null && { text }) };
    }
    case "log":
      return { ...claim, kind: note.kind, lines: note.lines.map(wireLine) };
    case "step":
      return { ...claim, kind: note.kind, name: note.name, value_json: note.valueJson };
    case "step_load":
      return { ...claim, kind: note.kind, name: note.name };
    case "once_begin":
      return { ...claim, kind: note.kind, key: note.key, keep_ms: Math.round(note.keepMs) };
    case "once_end":
      return { ...claim, kind: note.kind, key: note.key, value_json: note.valueJson };
    case "callback":
      return { ...claim, kind: note.kind, token_hash: note.tokenHash };
    default:
      return { ...claim, kind: note.kind };
  }
}

function wireLine({ number, level, message, fieldsJson, agoMs }: LogLine): NonNullable<WorkerNote["lines"]>[number] {
  const fields = fieldsJson === null ? {} : { fields_json: fieldsJson };
  return { number, level, message, ...fields, ago_ms: Math.max(0, Math.round(agoMs)) };
}
