import { describe, expect, it } from "vitest";
import { runCli } from "../../../src/cli/main.js";
import { commands, groups, nouns } from "../../../src/cli/manifest.js";
import { foldHelp } from "../../../src/cli/output/fold-help.js";
import { fakeIo } from "./fake-io.js";

async function help(...argv: readonly string[]): Promise<string> {
  const io = fakeIo();
  expect(await runCli([...argv, "--help"], io)).toBe(0);
  return io.written();
}

describe("help", () => {
  it("has each noun and each command of one word in one group", () => {
    const shown = Object.values(groups).flat();
    const there = new Set(commands.map(({ path }) => path[0]));
    expect([...shown].sort()).toEqual([...there].sort());
    expect(Object.keys(nouns).filter((noun) => !there.has(noun))).toEqual([]);
  });

  it("shows all nouns under their groups", async () => {
    const text = await help();
    for (const [heading, words] of Object.entries(groups)) {
      expect(text).toContain(`\n${heading}\n`);
      for (const word of words) expect(text).toMatch(new RegExp(`^  ${word}\\b`, "m"));
    }
  });

  it.each(commands.map(({ path }) => path.join(" ")))(
    "of %s fits a terminal, but for examples, and shows no empty defaults",
    async (name) => {
      const text = await help(...name.split(" "));
      const wide = text.split("\n").filter((line) => line.length > 80 && !line.startsWith("  $ "));
      expect(wide).toEqual([]);
      expect(text).not.toContain("default: {}");
    },
  );

  it("says what counts without a setting, and what it may be", async () => {
    const text = (await help("server", "start")).replaceAll(/\s+/g, " ");
    expect(text).toContain("--port <value> port of the HTTP API; 0 picks a free one (default: 8023)");
    expect(text).toContain("(default: 5s)");
    expect(text).toContain("(postgres, etcd; default: postgres)");
  });

  it.each([["help nope"], ["nope --help"], ["job nope --help"], ["help job nope"], ["job help nope"]])(
    "of what is not there is wrong usage: carillon %s",
    async (line) => {
      const io = fakeIo();
      expect(await runCli(line.split(" "), io)).toBe(2);
      expect(io.said.join()).toContain("unknown command 'nope'");
    },
  );

  it.each([["help job create"], ["job help create"], ["job create -h"], ["help limit get"]])(
    "is asked for by carillon %s too",
    async (line) => {
      const io = fakeIo();
      expect(await runCli(line.split(" "), io)).toBe(0);
      expect(io.written()).toContain("Usage: carillon ");
      expect(io.written()).toContain("Examples:");
    },
  );

  it("is named where a command line is wrong", async () => {
    const io = fakeIo();
    expect(await runCli(["job", "get"], io)).toBe(2);
    expect(io.said.join("\n")).toContain("Help: carillon job get --help");
  });

  it("breaks paragraphs at the width and leaves lists and examples as they are", () => {
    expect(foldHelp("one two three\nfour\n\nExamples:\n  $ five six seven eight\n", 9)).toBe(
      "one two\nthree\nfour\n\nExamples:\n  $ five six seven eight\n",
    );
  });
});
