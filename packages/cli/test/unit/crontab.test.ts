import { afterEach, describe, expect, it, vi } from "vitest";
import { parseCrontab } from "../../src/crontab.js";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serveBy } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const parse = (text: string, isSystem = false) => parseCrontab(text, { isSystem });

async function dryRun(text: string, ...argv: string[]) {
  const io = fakeIo({ stdin: [text] });
  const code = await runCli(
    ["import", "crontab", "-", "--dry-run", "--tz", "Europe/Paris", "--name", "tab", ...argv],
    io,
  );
  return { code, out: io.written(), said: io.said.join("\n") };
}

/** The jobs of a crontab. */
async function jobsOf(text: string, ...argv: string[]): Promise<Record<string, unknown>[]> {
  return JSON.parse((await dryRun(text, "--json", ...argv)).out) as Record<string, unknown>[];
}

describe("a crontab", () => {
  it("a crontab may have comments, empty lines and variables, which apply to the lines below them", () => {
    const { entries } = parse(`# a comment\n\nA=1\n  0 5 * * * one\nB = "two words"\n'A'='3'\n@daily two\n`);
    expect(entries.map(({ line, cron, command, env }) => [line, cron, command, env])).toEqual([
      [4, "0 5 * * *", "one", { A: "1" }],
      [7, "@daily", "two", { A: "3", B: "two words" }],
    ]);
  });

  it("a command in a crontab ends at the first %, and the rest is its standard input; \\% is a percent sign", () => {
    const { entries } = parse(String.raw`0 5 * * * mail -s "100\% done" me%Hello,%%bye \%`);
    expect(entries[0]).toMatchObject({ command: `mail -s "100% done" me`, stdin: "Hello,\n\nbye %\n" });
    expect(parse(String.raw`* * * * * date +\%F`).entries[0]).toMatchObject({ command: "date +%F", stdin: null });
  });

  it("the sixth field of a system crontab is the user", () => {
    expect(parse("17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly", true).entries[0]).toMatchObject({
      cron: "17 * * * *",
      user: "root",
      command: "cd / && run-parts --report /etc/cron.hourly",
    });
    expect(parse("-@weekly www-data clean", true).entries[0]).toMatchObject({ cron: "@weekly", user: "www-data" });
  });

  it.each([
    ["@reboot /usr/bin/start", "service manager"],
    ["@fortnightly x", "is none of @yearly"],
    ["0~30 5 * * * x", "jitter"],
    ["0 5 * * *", "five fields and a command"],
    ["some words", "five fields and a command"],
    ["0 5 * * * %x", "no command"],
  ])("a crontab line %j is refused with a reason", (line, reason) => {
    const { entries, faults } = parse(`\n${line}\n`);
    expect(entries).toEqual([]);
    expect(faults).toEqual([{ line: 2, text: line, reason: expect.stringContaining(reason) }]);
  });
});

describe("import crontab", () => {
  it("import crontab creates shell jobs that behave as under cron", async () => {
    const text = `SHELL=/bin/bash\nPATH=/usr/bin\nHOME=/home/me\nMAILTO=ops@example.com\nCRON_TZ=Asia/Tokyo\n30 2 * * 1-5 backup --full%yes\n`;
    expect(await jobsOf(text, "--queue", "nightly")).toEqual([
      {
        key: "tab-backup-full",
        task: "shell",
        schedule: { cron: "30 2 * * 1-5", time_zone: "Asia/Tokyo" },
        payload: {
          command: ["/bin/bash", "-c", "backup --full"],
          env: { PATH: "/usr/bin", HOME: "/home/me" },
          cwd: "/home/me",
          stdin: "yes\n",
        },
        queue: "nightly",
        guarantee: "at_most_once",
        overlap: "allow",
        misfire: "skip",
        labels: { crontab: "tab" },
      },
    ]);
  });

  it("import crontab requires both day fields if one begins with a star, as cron does", async () => {
    const jobs = await jobsOf("0 0 */2 * 1 a\n0 0 1 * 1 b\n0 0 * * 1 c\n0 0 1 * */2 d\n");
    expect(jobs.map(({ schedule }) => (schedule as { day_match?: string }).day_match)).toEqual([
      "and",
      undefined,
      undefined,
      "and",
    ]);
  });

  it("import crontab gives equal lines different keys, the same ones in every import", async () => {
    const keys = (await jobsOf("0 1 * * * sync /a\n0 2 * * * sync /a\n0 3 * * * ///\n")).map(({ key }) => key);
    expect(keys).toEqual(["tab-sync-a", "tab-sync-a-2", "tab-job"]);
  });

  it("import crontab restricts a user's jobs to workers of that user", async () => {
    expect((await jobsOf("0 1 * * * root sync\n", "--system"))[0]).toMatchObject({ requires: { user: "root" } });
    expect((await dryRun("0 1 * * * root sync\n")).said).toContain("--system");
  });

  it("import crontab --dry-run prints the next local times without a server", async () => {
    const { code, out, said } = await dryRun("MAILTO=me\n0 5 * * * backup\n");
    expect(code).toBe(0);
    expect(out).toMatch(/2 +tab-backup +.*, Europe\/Paris +2026-02-10T05:00, 2026-02-11T05:00, 2026-02-12T05:00\n/);
    expect(said).toContain("MAILTO=me: no mail is sent");
    expect(said).toContain("1 would be imported, 0 refused; nothing was changed");
  });

  it("import crontab names this machine's zone only if a line uses it, and a worker only if there are jobs", async () => {
    const said = async (text: string) => {
      serveBy(() => ({ body: { jobs: [], next_page_token: null } }));
      const io = fakeIo({ stdin: [text] });
      expect(await runCli(["import", "crontab", "-", ...(text === "" ? [] : ["--dry-run"])], io)).toBe(0);
      return io.said.join("\n");
    };
    expect(await said("0 5 * * * a\n")).toContain("this machine's zone");
    expect(await said("CRON_TZ=Europe/Paris\n0 5 * * * a\n")).not.toContain("this machine's zone");
    expect(await said("")).toBe("carillon: the crontab has no line that runs anything\ncarillon: nothing to do");
  });

  it("import crontab --dry-run -o yaml prints a file for job apply", async () => {
    const { out } = await dryRun("0 5 * * * a: b\n@hourly two\n", "-o", "yaml");
    expect(out).toContain("key: tab-a-b\ntask: shell\n");
    expect(out.split("---\n")).toHaveLength(2);
  });

  it("import crontab imports nothing if a line is refused, unless --skip-refused is given", async () => {
    const text = "@reboot x\n61 * * * * y\nLD_PRELOAD=/x.so\n0 1 * * * z\n";
    const argv = ["import", "crontab", "-", "--tz", "UTC", "--name", "tab"];
    const calls = serveBy(({ method, body }) =>
      method === "GET"
        ? { body: { jobs: [], next_page_token: null } }
        : { body: { ...(body as object), id: "job_1", version: 1 } },
    );
    const io = fakeIo({ stdin: [text] });
    expect(await runCli(argv, io)).toBe(2);
    expect(calls).toEqual([]);
    expect(io.said.join("\n")).toMatch(
      /line 1 is refused[^]*line 2 is refused[^]*line 4 is refused: the shell executor sets no LD_PRELOAD/,
    );
    const rest = fakeIo({ stdin: [`0 2 * * * good\n${text}`] });
    expect(await runCli([...argv, "--skip-refused"], rest)).toBe(0);
    expect(calls.filter(({ method }) => method === "POST").map(({ body }) => (body as { key: string }).key)).toEqual([
      "tab-good",
    ]);
    expect(rest.said.join("\n")).toContain("carillon worker start --enable-shell");
  });
});
