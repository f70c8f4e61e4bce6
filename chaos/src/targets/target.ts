/** What must become of an instant of a job. */
export interface Target {
  readonly job: string;
  readonly nominal: number;
  /** Not required: it lies between request and answer of the job's making, or that was never answered. */
  readonly required: boolean;
  /** paused, window: it lies inside a pause whose end left it out, or a window that does; the ledger says so and nothing ran. */
  readonly fate: "run" | "paused" | "window";
  /** Fired after its pause or window: how late it is says nothing. */
  readonly isLate: boolean;
}
