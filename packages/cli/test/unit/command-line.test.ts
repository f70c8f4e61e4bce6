import { describe, expect, it } from "vitest";
import { runCli } from "../../src/main.js";
import { allCommands } from "../../src/nouns.js";
import { fakeIo } from "./fake-io.js";

async function run(...argv: string[]) {
  const io = fakeIo();
  const code = await runCli(argv, io);
  return { code, out: io.written(), talk: io.said.join("\n") };
}

describe("the command line", () => {
  it("--help prints help on standard output with exit code 0", async () => {
    const { code, out, talk } = await run("--help");
    expect({ code, talk }).toEqual({ code: 0, talk: "" });
    expect(out).toMatch(/^Usage: carillon/);
    expect(out).toContain("dev ");
  });

  it("carillon without arguments prints the first steps", async () => {
    const { code, out, talk } = await run();
    expect({ code, talk }).toEqual({ code: 0, talk: "" });
    expect(out).toMatch(/carillon dev .*\n[^]*carillon why @ping[^]*carillon --help/);
  });

  it("help of a command lists its own options, by flag and by word", async () => {
    const byFlag = await run("cron", "next", "--help");
    expect(byFlag.code).toBe(0);
    expect(byFlag.out).toContain("--from <instant>");
    expect(byFlag.out).toContain("Examples:");
    expect(await run("help", "cron", "next")).toEqual(byFlag);
  });

  it("a noun without a verb prints help on standard error with exit code 2", async () => {
    const { code, out, talk } = await run("job");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(talk).toMatch(/create.*\n.*get.*\n.*list/);
  });

  it.each([
    [["jbo"], "(Did you mean job?)"],
    [["job", "lst"], "(Did you mean list?)"],
    [["cron", "next", "* * * * *", "--form", "x"], "(Did you mean --from?)"],
    [["job", "create", "--taks", "x"], "(Did you mean --task?)"],
    [["job", "backfill", "--form", "x"], "(Did you mean --from?)"],
  ])("a suggestion is printed for the misspelled %j, with exit code 2", async (argv, hint) => {
    const { code, out, talk } = await run(...argv);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(talk).toContain(hint);
  });

  it.each([
    [["cron", "next"], "missing required argument"],
    [["cron", "next", "* * * * *", "-n", "none"], "must be a whole number"],
    [["cron", "next", "* * * * *", "surplus"], "too many arguments"],
    [["job", "create"], "required option '--task <name>'"],
    [["job", "create", "--task", "echo", "--cron", "* * * * *", "--every", "1m"], "cannot be used with"],
    [["job", "list", "-o", "xml"], "Allowed choices are table, json, jsonl"],
    [["job", "list", "--url", "nowhere"], "is not a server's address"],
    [["job", "create", "--task", "echo", "--payload", "{a:1}"], "--payload is not JSON"],
    [["job", "create", "--task", "echo", "--cron", "* * * * *", "--wait"], "jobs that run once"],
    [["job", "create", "--task", "echo", "--label", "x"], "name=value"],
  ])("refuses %j with exit code 2", async (argv, message) => {
    const { code, out, talk } = await run(...argv);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(talk).toContain(message);
  });

  it("every command that prints data has --json", async () => {
    const without = await Promise.all(
      (await allCommands()).map(async ({ path }) =>
        (await run(...path, "--help")).out.includes("--json ") ? [] : [path.join(" ")],
      ),
    );
    expect(without.flat()).toEqual(["dev", "worker start", "server start", "api", "completion"]);
  });

  it("version and --version print versions", async () => {
    expect((await run("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    const { out } = await run("version", "--json");
    expect(JSON.parse(out)).toEqual({
      carillon: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.versions.node,
      zone_data: process.versions["tz"],
    });
  });
});
