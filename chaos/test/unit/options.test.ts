import { describe, expect, it } from "vitest";
import { main } from "../../src/main.js";
import { mutantNames } from "../../src/mutants/mutants.js";
import { readOptions, replayArgs } from "../../src/options.js";

const read = (line: string) => readOptions(line.split(" ").filter(Boolean), () => 4711);

describe("the options", () => {
  it("the defaults are five minutes on two nodes with a drawn seed", () => {
    expect(read("")).toEqual({
      seed: 4711,
      loadMs: 300_000,
      nodes: 2,
      mutant: null,
      faults: null,
      mixed: null,
      mutantSeeds: null,
      triedMutants: mutantNames,
      json: null,
      keep: false,
    });
  });

  it.each([
    "--minutes 3 --seed 9 --nodes 4",
    "--short --seed 9",
    "--short --seed 9 --faults clock,pool",
    "--short --seed 9 --faults none",
    "--short --seed 9 --mutant lease-by-local-clock",
    "--short --seed 9 --mixed",
    "--mixed v0.1.0 --short --seed 9",
  ])("the printed options repeat the run of %s", (line) => {
    expect(read(replayArgs(read(line)))).toEqual(read(line));
  });

  it("--mixed plans faults that end no node, on three nodes", () => {
    expect(read("--mixed")).toMatchObject({ mixed: { ref: null }, nodes: 3 });
    expect(read("--mixed HEAD~3 --nodes 2")).toMatchObject({ mixed: { ref: "HEAD~3" }, nodes: 2 });
    expect(read("--mixed").faults).not.toContain("kill");
  });

  it("--mutant selects the faults that reveal the mutant", () => {
    expect(read("--mutant lease-by-local-clock").faults).toEqual(["clock"]);
  });

  it("--mutants uses the short form and two seeds, unless other seeds or minutes are given", () => {
    expect(read("--mutants")).toMatchObject({ mutantSeeds: [1, 2], loadMs: 72_000 });
    expect(read("--mutants --only window-ignored,overlap-ignored").triedMutants).toEqual([
      "window-ignored",
      "overlap-ignored",
    ]);
    expect(read("--mutants --seeds 5,6,7 --minutes 3")).toMatchObject({ mutantSeeds: [5, 6, 7], loadMs: 180_000 });
  });

  it.each([
    "--seed x",
    "--nodes 1",
    "--minutes 0",
    "--faults rain",
    "--mutant tame",
    "--mutants --seeds 1,,2",
    "--mutants --only tame",
    "--loud",
  ])("%s is wrong usage and gives exit code 2", async (line) => {
    expect(() => read(line)).toThrow(/--|mutant/);
    const said: string[] = [];
    expect(await main(line.split(" "), (text) => said.push(text))).toBe(2);
    expect(said.join("\n")).toContain("Exit codes");
  });

  it("--help prints the usage and does nothing else", async () => {
    const said: string[] = [];
    expect(await main(["--mutants", "--help"], (text) => said.push(text))).toBe(0);
    expect(said).toEqual([expect.stringContaining("--seed S      repeats a plan")]);
  });
});
