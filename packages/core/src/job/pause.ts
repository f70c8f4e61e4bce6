import type { Instant } from "../time/instant.js";

export const missedChoices = ["none", "latest", "all"] as const;

/** What becomes of the occurrences inside a pause when it ends. */
export type MissedChoice = (typeof missedChoices)[number];

/** Why a job does not fire for now. */
export interface JobPause {
  readonly reason: string | null;
  /** Who paused it; null where nobody said who they are. */
  readonly actor: string | null;
  readonly at: Instant;
  /** It ends by itself then; null: only when someone resumes the job. */
  readonly until: Instant | null;
  /** What the end of the pause does unless a resume says otherwise. */
  readonly missed: MissedChoice;
}
