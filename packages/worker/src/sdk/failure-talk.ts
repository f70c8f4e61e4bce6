import { FewOfEach } from "../runtime/few-of-each.js";
import type { WorkerEvent } from "../runtime/worker-options.js";

export interface FailureTalkOptions {
  readonly write: (line: string) => void;
  readonly monotonic: () => number;
}

/** What a worker says when nobody listens: its failures, a few of each kind. */
export function failureTalk({ write, monotonic }: FailureTalkOptions): (event: WorkerEvent) => void {
  const few = new FewOfEach(monotonic);
  return (event) => {
    const said = wordsOf(event);
    const passed = said === null ? null : few.pass(said.kind, said.most);
    if (said === null || passed === null) return;
    const more = passed.keptBack === 0 ? "" : ` (and ${passed.keptBack} more like it before)`;
    write(`carillon: ${said.text}${more}${said.stack === undefined ? "" : `\n${said.stack.replace(/^/gm, "    ")}`}`);
  };
}

interface Words {
  readonly kind: string;
  readonly text: string;
  readonly stack?: string | undefined;
  /** In ten seconds; a few if it is not said. */
  readonly most?: number;
}

/** Null: nothing went wrong. */
function wordsOf(event: WorkerEvent): Words | null {
  switch (event.type) {
    case "run.attempt_failed": {
      const { runId, task, attempt, maxAttempts, error } = event;
      const text = `attempt ${attempt} of ${maxAttempts} of ${task} failed (${runId}): ${error.type}: ${error.message}`;
      return { kind: `${task} ${error.type}`, text, stack: framesOf(error.stack) };
    }
    case "worker.transport_failed": {
      const reason = event.error instanceof Error ? event.error.message : String(event.error);
      return { kind: event.type, text: `the worker cannot reach its server, and tries on: ${reason}`, most: 1 };
    }
    case "worker.session_lost":
      return {
        kind: event.type,
        text: `the worker was taken for lost, and registers again; ${event.running} of its runs go to others`,
      };
    case "run.signal_ignored":
      return {
        kind: event.type,
        text: `${event.task} works on although it was told to stop (${event.reason}, ${event.runId})`,
      };
    default:
      return null;
  }
}

/** The lines below the message, which was said already. */
function framesOf(stack: string | undefined): string | undefined {
  const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line));
  return frames === undefined || frames.length === 0 ? undefined : frames.map((line) => line.trim()).join("\n");
}
