import type { ScheduleSpec } from "../schedule/spec.js";
import type { Instant } from "../time/instant.js";
import { Hash128 } from "./hash.js";
import type { RunId } from "./id.js";
import { checkUuidInstant, uuidV7Of, wordsOfUuid } from "./uuid.js";

/** Separates these hashes from any other use of the same function. Part of the stored format: never change it. */
const seed = 0x6f636375;

/**
 * The id of the run of an occurrence: a UUIDv7 whose time is the nominal instant and whose other 74 bits are a hash of
 * job, instant and trigger. Every node computes the same id for the same occurrence, so the primary key of `run` alone makes a
 * second run of it impossible. `jobId` must be canonical; `trigger` is "schedule" or the id of the request for the run.
 */
export function occurrenceRunId(jobId: string, nominal: Instant, trigger: string): RunId {
  checkUuidInstant(nominal);
  const hash = new Hash128(seed);
  hash.block(...wordsOfUuid(jobId));
  hash.block(Math.floor(nominal / 2 ** 32), nominal | 0, trigger.length, 0);
  // Past the end of the text charCodeAt returns NaN, which counts as 0; the length above distinguishes such texts.
  for (let at = 0; at < trigger.length; at += 8) {
    hash.block(codes(trigger, at), codes(trigger, at + 2), codes(trigger, at + 4), codes(trigger, at + 6));
  }
  const [a, b, c] = hash.words();
  return uuidV7Of(nominal, a, b, c) as RunId;
}

interface OccurrenceOfJob {
  readonly jobId: string;
  readonly schedule: ScheduleSpec;
  readonly nominal: Instant;
  readonly runsMade: number;
}

/**
 * The id of the run of an occurrence: it follows from the job and the instant. The first run of a single instant has the job's own id:
 * the caller that created a one-off run received that id, and finds the run by it even if the job was changed before it ran.
 */
export function scheduledRunId({ jobId, schedule, nominal, runsMade }: OccurrenceOfJob): string {
  return schedule.kind === "at" && runsMade === 0 ? jobId : occurrenceRunId(jobId, nominal, "schedule");
}

function codes(text: string, at: number): number {
  return (text.charCodeAt(at) << 16) | text.charCodeAt(at + 1);
}
