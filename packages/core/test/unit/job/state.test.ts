import { type JobEvent, type JobState, jobStates, jobTransitions, transitionJob } from "@carillon/core";
import { describe, expect, it } from "vitest";

const events = Object.keys(jobTransitions) as JobEvent[];

/** The expected result of each event in each state. */
const expected: Record<JobState, Partial<Record<JobEvent, JobState>>> = {
  active: { pause: "paused", complete: "completed", cancel: "cancelled" },
  paused: { resume: "active", complete: "completed", cancel: "cancelled" },
  completed: { reactivate: "active", cancel: "cancelled" },
  cancelled: {},
};

describe("the job's state machine", () => {
  it.each(jobStates)("a job in state %s follows the transition table and refuses every other event", (state) => {
    const refusal = state === "cancelled" ? "final" : "impossible";
    const answers = Object.fromEntries(
      events.map((event) => {
        const result = transitionJob(state, event);
        return [event, result.ok ? result.state : result.refusal];
      }),
    );
    expect(answers).toEqual(Object.fromEntries(events.map((event) => [event, expected[state][event] ?? refusal])));
  });
});
