import { describe, expect, it } from "vitest";
import { runCli } from "../../src/main.js";
import { aliases, allCommands, groups, isNoun, words } from "../../src/nouns.js";
import { foldHelp } from "../../src/program.js";
import { fakeIo } from "./fake-io.js";

async function help(...argv: readonly string[]): Promise<string> {
  const io = fakeIo();
  expect(await runCli([...argv, "--help"], io)).toBe(0);
  return io.written();
}

const commands = await allCommands();

describe("help", () => {
  it("help lists each noun and each command of one word in exactly one group", () => {
    const shown = Object.values(groups).flatMap((members) => Object.keys(members));
    expect(shown).toEqual([...new Set(shown)]);
    expect(new Set(commands.map(({ path }) => path[0]))).toEqual(new Set(shown));
  });

  it("the command line uses the verbs list, get, create, update, delete and apply, and no synonyms of them", () => {
    const synonyms = new Set(["show", "put", "set", "remove", "add", "edit", "describe", "ls", "rm"]);
    expect(commands.filter(({ path }) => synonyms.has(path[1] ?? ""))).toEqual([]);
  });

  it("help prints an alias beside the verb that it stands for", async () => {
    for (const [noun, verbs] of Object.entries(aliases)) {
      const word = words[noun];
      if (!isNoun(word)) throw new Error(`${noun} is no noun`);
      const declared = Object.keys(await word.commands());
      for (const [alias, verb] of Object.entries(verbs)) {
        expect(declared).toContain(verb);
        expect(declared).not.toContain(alias);
        expect(await help(noun)).toContain(`${verb}|${alias}`);
        expect(await help(noun, alias)).toBe(await help(noun, verb));
      }
    }
  });

  it("help prints all nouns under their groups", async () => {
    const text = await help();
    for (const [heading, members] of Object.entries(groups)) {
      expect(text).toContain(`\n${heading}\n`);
      for (const word of Object.keys(members)) expect(text).toMatch(new RegExp(`^  ${word}\\b`, "m"));
    }
  });

  it.each(commands.map(({ path }) => path.join(" ")))(
    "help of %s fits a terminal, except examples, and prints no empty defaults",
    async (name) => {
      const text = await help(...name.split(" "));
      const wide = text.split("\n").filter((line) => line.length > 80 && !line.startsWith("  $ "));
      expect(wide).toEqual([]);
      expect(text).not.toContain("default: {}");
    },
  );

  it("help of a setting prints its default and its choices", async () => {
    const text = (await help("server", "start")).replaceAll(/\s+/g, " ");
    expect(text).toContain("--port <value> port of the HTTP API; 0 picks a free one (default: 8023)");
    expect(text).toContain("(default: 5s)");
    expect(text).toContain("(postgres, etcd; default: postgres)");
  });

  it.each([["help nope"], ["nope --help"], ["job nope --help"], ["help job nope"], ["job help nope"]])(
    "help of an unknown command is wrong usage: carillon %s",
    async (line) => {
      const io = fakeIo();
      expect(await runCli(line.split(" "), io)).toBe(2);
      expect(io.said.join()).toContain("unknown command 'nope'");
    },
  );

  it.each([["help job create"], ["job help create"], ["job create -h"], ["help limit get"]])(
    "carillon %s prints help too",
    async (line) => {
      const io = fakeIo();
      expect(await runCli(line.split(" "), io)).toBe(0);
      expect(io.written()).toContain("Usage: carillon ");
      expect(io.written()).toContain("Examples:");
    },
  );

  it("a wrong command line names the help of its command", async () => {
    const io = fakeIo();
    expect(await runCli(["job", "get"], io)).toBe(2);
    expect(io.said.join("\n")).toContain("Help: carillon job get --help");
  });

  it("help wraps paragraphs at the width and leaves lists and examples as they are", () => {
    expect(foldHelp("one two three\nfour\n\nExamples:\n  $ five six seven eight\n", 9)).toBe(
      "one two\nthree\nfour\n\nExamples:\n  $ five six seven eight\n",
    );
  });
});
