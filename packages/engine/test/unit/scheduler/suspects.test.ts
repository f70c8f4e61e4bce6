import { describe, expect, it } from "vitest";
import { Suspects } from "../../../src/scheduler/poison-jobs.js";

describe("a job whose fire failed while nothing else was written", () => {
  it("is at fault when others were written since", () => {
    const suspects = new Suspects();
    expect(suspects.isGuilty("a", 0)).toBe(false);
    expect(suspects.isGuilty("a", 100)).toBe(false);
    suspects.noteWritten(1);
    expect(suspects.isGuilty("a", 200)).toBe(true);
  });

  it("is not at fault for what was written before", () => {
    const suspects = new Suspects();
    suspects.noteWritten(10);
    expect(suspects.isGuilty("a", 0)).toBe(false);
    suspects.noteWritten(0);
    expect(suspects.isGuilty("a", 100)).toBe(false);
  });

  it("is at fault after a minute, alone as it is", () => {
    const suspects = new Suspects();
    expect(suspects.isGuilty("a", 0)).toBe(false);
    expect(suspects.isGuilty("a", 59_999)).toBe(false);
    expect(suspects.isGuilty("a", 60_000)).toBe(true);
  });
});
