import { type NoteAnswer, noteLimits, type RunNote } from "@carillon/core";
import { upstreamJson, upstreamOf } from "../../dependencies/upstream-runs.js";
import { type ClaimName, Coalescer, isFaultOfRows, type Kept } from "@carillon/store";
import type { DispatchContext } from "../dispatch-context.js";
import type { WorkerSession } from "../sessions/worker-session.js";

type NoteOf<Kind extends RunNote["kind"]> = Extract<RunNote, { kind: Kind }>;

type Question = NoteOf<"checkpoint_load" | "step_load" | "last_success" | "upstream" | "heartbeat">;

const bounds = { maxBatch: 500, maxQueued: 20_000 };
const done: NoteAnswer = { kind: "done" };
const lost: NoteAnswer = { kind: "lost" };

/**
 * Stores and reads what handlers keep while they run: checkpoints, progress, steps, logs, once blocks and callbacks. Requests of all
 * workers of this node share statements: the first is sent at once, those that arrive meanwhile go together. A repeated request is harmless.
 */
export class HandlerState {
  readonly #store: DispatchContext["store"];
  readonly #checkpoints: Writer<"checkpoint">;
  readonly #progress: Writer<"progress">;
  readonly #steps: Writer<"step">;
  readonly #logs: Writer<"log">;

  constructor(store: DispatchContext["store"]) {
    const { records } = store;
    this.#store = store;
    this.#checkpoints = writer((notes) =>
      records.keepCheckpoints(notes.map((one) => ({ ...one, value: one.valueJson }))),
    );
    this.#progress = writer((notes) => records.keepProgress(notes));
    this.#steps = writer((notes) => records.keepSteps(notes.map((one) => ({ ...one, value: one.valueJson }))));
    this.#logs = writer((notes) => records.log(notes));
  }

  /** One answer to each, in their order. `isOver` decides whether the session no longer holds the claim of a request. */
  answer(
    session: WorkerSession,
    notes: readonly RunNote[],
    isOver: (note: RunNote) => boolean,
  ): Promise<readonly NoteAnswer[]> {
    return Promise.all(notes.map((note) => this.#answer(session, note, isOver(note))));
  }

  async #answer(session: WorkerSession, note: RunNote, isOver: boolean): Promise<NoteAnswer> {
    // The block was executed, also if another session holds the run by now.
    if (isOver && note.kind !== "once_end") return lost;
    const refusal = refusalOf(note);
    if (refusal !== null) return { kind: "refused", message: refusal };
    try {
      return await this.#execute(session, note);
    } catch (error) {
      if (!isFaultOfRows(error)) throw error;
      return { kind: "refused", message: `it cannot be stored: ${error instanceof Error ? error.message : "?"}` };
    }
  }

  #execute(session: WorkerSession, note: RunNote): Promise<NoteAnswer> {
    const claim = { session: session.id, id: note.runId, fence: note.fence };
    switch (note.kind) {
      case "checkpoint":
        return this.#checkpoints.add({ ...note, ...claim });
      case "progress":
        return this.#progress.add({ ...note, ...claim });
      case "step":
        return this.#steps.add({ ...note, ...claim });
      case "log":
        return this.#logs.add({ ...note, ...claim });
      case "once_begin":
        return this.#beginOnce(session, claim, note);
      case "once_end":
        return this.#endOnce(session, claim, note);
      case "callback":
        return this.#openCallback(claim, note);
      default:
        return this.#find(session, note);
    }
  }

  async #find(session: WorkerSession, note: Question): Promise<NoteAnswer> {
    switch (note.kind) {
      case "checkpoint_load":
        return answerOf((await this.#store.records.checkpoints([note.runId])).get(note.runId));
      case "step_load":
        return answerOf((await this.#store.records.steps([{ id: note.runId, name: note.name }]))[0]);
      case "last_success":
        return this.#lastSuccess(session, note);
      case "upstream":
        return this.#upstream(session, note);
      default:
        return done;
    }
  }

  async #openCallback(claim: ClaimName, { tokenHash }: NoteOf<"callback">): Promise<NoteAnswer> {
    const answered = await this.#store.callbacks.open(claim, tokenHash);
    return answered === "lost" ? lost : answerOf(answered);
  }

  async #endOnce(session: WorkerSession, claim: ClaimName, note: NoteOf<"once_end">): Promise<NoteAnswer> {
    return (await this.#store.records.endOnce(session.namespaceOf(note.runId), note.key, claim, note.valueJson))
      ? done
      : lost;
  }

  async #beginOnce(session: WorkerSession, claim: ClaimName, note: NoteOf<"once_begin">): Promise<NoteAnswer> {
    const namespaceId = session.namespaceOf(note.runId);
    session.beginOnce(note.runId);
    const found = await this.#store.records.findOnce(namespaceId, note.key);
    if (found !== null && found !== "busy") return answerOf(found);
    if (await this.#store.records.beginOnce(claim, note.key, note.keepMs)) return done;
    const since = await this.#store.records.findOnce(namespaceId, note.key);
    return since === null || since === "busy" ? { kind: "busy" } : answerOf(since);
  }

  async #lastSuccess(session: WorkerSession, { runId }: RunNote): Promise<NoteAnswer> {
    const jobId = session.held.get(runId)?.jobId ?? null;
    // A one-off job is its run: no run of it succeeded before.
    if (jobId === null || jobId === runId) return done;
    return answerOf(await this.#store.records.lastSuccess(session.namespaceOf(runId), jobId));
  }

  async #upstream(session: WorkerSession, { runId }: RunNote): Promise<NoteAnswer> {
    const trigger = session.held.get(runId)?.trigger ?? "";
    const runs = await upstreamOf(this.#store.upstream, session.namespaceOf(runId), trigger);
    const last = Math.max(0, ...runs.map((run) => run.finishedAt));
    return runs.length === 0 ? done : { kind: "value", valueJson: upstreamJson(runs), at: last };
  }
}

type Writer<Kind extends RunNote["kind"]> = Coalescer<NoteOf<Kind> & ClaimName, NoteAnswer>;

function writer<Kind extends RunNote["kind"]>(
  keep: (notes: readonly (NoteOf<Kind> & ClaimName)[]) => Promise<ReadonlySet<string>>,
): Writer<Kind> {
  return new Coalescer({
    ...bounds,
    write: async (notes) => {
      const held = await keep(notes);
      return notes.map(({ id }) => (held.has(id) ? done : lost));
    },
  });
}

function answerOf(found: Kept | null | undefined): NoteAnswer {
  return found === null || found === undefined ? done : { kind: "value", valueJson: found.value, at: found.at };
}

/** Workers keep within these bounds by themselves; a request beyond them is refused with the reason. */
function refusalOf(note: RunNote): string | null {
  if ("valueJson" in note && Buffer.byteLength(note.valueJson) > noteLimits.valueBytes) {
    return `a ${note.kind} may have ${noteLimits.valueBytes} bytes as JSON`;
  }
  const name = "name" in note ? note.name : "key" in note ? note.key : null;
  if (name !== null && (name.length === 0 || name.length > noteLimits.nameLength)) {
    return `a name has 1 to ${noteLimits.nameLength} characters`;
  }
  if (note.kind === "once_begin" && !(note.keepMs > 0 && note.keepMs <= noteLimits.maxOnceKeepMs)) {
    return `it is kept for up to ${noteLimits.maxOnceKeepMs} ms`;
  }
  if (note.kind === "log" && note.lines.some((line) => line.number > noteLimits.logLines + 1)) {
    return `an attempt may log ${noteLimits.logLines} lines`;
  }
  return null;
}
