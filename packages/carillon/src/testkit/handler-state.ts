import { type Instant, type LogLevel, type NoteAnswer, noteLimits, type RunNote } from "@carillon/core";

export interface TestLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: unknown;
}

export interface TestProgress {
  readonly fraction: number;
  readonly text: string | null;
}

const done: NoteAnswer = { kind: "done" };

/** Handler state in memory: checkpoints, steps, progress, logs. The kit runs one attempt of a run at a time, so no fence is needed. */
export class MemoryHandlerState {
  readonly #now: () => Instant;
  readonly #checkpoints = new Map<string, string>();
  readonly #steps = new Map<string, string>();
  readonly #onces = new Map<string, { readonly runId: string; readonly until: Instant; valueJson: string | null }>();
  readonly #lines = new Map<string, TestLine[]>();
  readonly #progress = new Map<string, TestProgress>();
  readonly #successes = new Map<string, { readonly valueJson: string; readonly at: Instant }>();
  readonly #jobs = new Map<string, string>();
  readonly #upstream = new Map<string, string>();
  readonly #atWork = new Set<string>();

  constructor(now: () => Instant) {
    this.#now = now;
  }

  /** Sets the upstream runs that the handler sees, as a JSON list. */
  follow(runId: string, runsJson: string): void {
    this.#upstream.set(runId, runsJson);
  }

  /** An attempt begins; the job is needed for the last success of the job. */
  begin(runId: string, jobId: string | null): void {
    this.#atWork.add(runId);
    if (jobId !== null) this.#jobs.set(runId, jobId);
  }

  /** The attempt is over, and another will follow. */
  rest(runId: string): void {
    this.#atWork.delete(runId);
  }

  /** The run has ended: returns its log and progress, and drops the rest. */
  end(runId: string, outputJson: string | null): { lines: readonly TestLine[]; progress: TestProgress | null } {
    this.#atWork.delete(runId);
    const jobId = this.#jobs.get(runId);
    if (jobId !== undefined && outputJson !== null) {
      this.#successes.set(jobId, { valueJson: outputJson, at: this.#now() });
    }
    const left = { lines: this.#lines.get(runId) ?? [], progress: this.#progress.get(runId) ?? null };
    for (const kept of [this.#checkpoints, this.#lines, this.#progress, this.#jobs, this.#upstream]) kept.delete(runId);
    for (const name of this.#steps.keys()) if (name.startsWith(`${runId} `)) this.#steps.delete(name);
    return left;
  }

  readonly note = async (notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> =>
    notes.map((note) => this.#take(note));

  #take(note: RunNote): NoteAnswer {
    const { runId } = note;
    switch (note.kind) {
      case "checkpoint":
        return keep(this.#checkpoints, runId, note.valueJson);
      case "step":
        return keep(this.#steps, `${runId} ${note.name}`, note.valueJson);
      case "progress":
        return keep(this.#progress, runId, { fraction: note.fraction, text: note.text });
      case "log":
        return keep(this.#lines, runId, [...(this.#lines.get(runId) ?? []), ...note.lines.map(lineOf)]);
      case "once_begin":
      case "once_end":
        return this.#once(note);
      default:
        return this.#find(note);
    }
  }

  #find(note: RunNote): NoteAnswer {
    if (note.kind === "checkpoint_load") return this.#answer(this.#checkpoints.get(note.runId));
    if (note.kind === "step_load") return this.#answer(this.#steps.get(`${note.runId} ${note.name}`));
    if (note.kind === "upstream") return this.#answer(this.#upstream.get(note.runId));
    if (note.kind !== "last_success") return done;
    const success = this.#successes.get(this.#jobs.get(note.runId) ?? "");
    return success === undefined ? done : { kind: "value", ...success };
  }

  #once(note: RunNote & { readonly kind: "once_begin" | "once_end" }): NoteAnswer {
    const known = this.#onces.get(note.key);
    if (note.kind === "once_end") {
      if (known !== undefined) known.valueJson = note.valueJson;
      return done;
    }
    const isOther = known !== undefined && known.until > this.#now() && known.runId !== note.runId;
    if (known !== undefined && known.until > this.#now() && known.valueJson !== null)
      return this.#answer(known.valueJson);
    if (isOther && this.#atWork.has(known.runId)) return { kind: "busy" };
    const keepMs = Math.min(note.keepMs, noteLimits.maxOnceKeepMs);
    this.#onces.set(note.key, { runId: note.runId, until: this.#now() + keepMs, valueJson: null });
    return done;
  }

  #answer(valueJson: string | undefined): NoteAnswer {
    return valueJson === undefined ? done : { kind: "value", valueJson, at: this.#now() };
  }
}

function keep<Value>(into: Map<string, Value>, key: string, value: Value): NoteAnswer {
  into.set(key, value);
  return done;
}

function lineOf(line: (RunNote & { kind: "log" })["lines"][number]): TestLine {
  const { level, message, fieldsJson } = line;
  return { level, message, fields: fieldsJson === null ? null : (JSON.parse(fieldsJson) as unknown) };
}
