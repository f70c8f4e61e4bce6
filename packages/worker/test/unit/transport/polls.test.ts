import { describe, expect, it } from "vitest";
import { Polls } from "../../../src/transport/http/polls.js";

describe("polls", () => {
  it("say up to which all are over, whatever order they end in", () => {
    const polls = new Polls();
    const [first, second] = [polls.begin(), polls.begin()];
    expect([first, second]).toMatchObject([
      { number: 1, heard: 0 },
      { number: 2, heard: 0 },
    ]);
    polls.answered(second);
    expect(polls.begin()).toMatchObject({ number: 3, heard: 0 });
    polls.answered(first);
    expect(polls.begin()).toMatchObject({ number: 4, heard: 2, isToName: false });
  });

  it("name all that is held after one that failed, until one that knows of it is answered [INV-6]", () => {
    const polls = new Polls();
    const [lost, older] = [polls.begin(), polls.begin()];
    polls.failed(lost);
    const naming = polls.begin();
    expect(naming).toMatchObject({ heard: 1, isToName: true });
    polls.answered(older);
    const another = polls.begin();
    expect(another.isToName).toBe(true);
    polls.failed(another);
    polls.answered(naming);
    const last = polls.begin();
    expect(last).toMatchObject({ isToName: true });
    polls.answered(last);
    expect(polls.begin().isToName).toBe(false);
  });
});
