import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serveBy } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const env = { CARILLON_URL: "http://127.0.0.1:9" };

/** Stores every run but those of the task "bad". */
const server = () =>
  serveBy(({ body }) => ({
    body: {
      results: (body as { runs: { task: string }[] }).runs.map(({ task }, n) =>
        task === "bad" ? { problem: { title: "Refused.", detail: "task is wrong" } } : { id: `run_${n}`, is_new: true },
      ),
    },
  }));

async function fileOf(lines: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carillon-import-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "runs.ndjson");
  await writeFile(file, `${lines.join("\n")}\n`);
  return file;
}

describe("run import", () => {
  it("sends the lines of a file a thousand at a time, and counts them", async () => {
    const calls = server();
    const io = fakeIo({ env });
    const file = await fileOf(Array.from({ length: 2_500 }, () => '{"task":"echo"}'));
    expect(await runCli(["run", "import", file, "--json"], io)).toBe(0);
    expect(calls.map(({ body }) => (body as { runs: object[] }).runs.length)).toEqual([1_000, 1_000, 500]);
    expect(JSON.parse(io.written())).toEqual({ lines: 2_500, created: 2_500, duplicates: 0, refused: 0 });
  });

  it("names faulty lines by their numbers, sends the others, and ends with 2", async () => {
    server();
    const io = fakeIo({ env, stdin: ['{"task":"echo"}\n\n{"task":\n{"task":"bad"}\n{"task":"echo"}\n'] });
    expect(await runCli(["run", "import", "-", "--json"], io)).toBe(2);
    expect(io.said.join("\n")).toContain("carillon: line 3: not valid JSON");
    expect(io.said.join("\n")).toContain("carillon: line 4: task is wrong");
    expect(JSON.parse(io.written())).toEqual({ lines: 4, created: 2, duplicates: 0, refused: 2 });
  });

  it("takes no further lines after a refused one, if asked to", async () => {
    const calls = server();
    const io = fakeIo({ env });
    const file = await fileOf(['{"task":"echo"}', "no", '{"task":"late"}']);
    expect(await runCli(["run", "import", file, "--stop-on-error"], io)).toBe(2);
    expect(calls.map(({ body }) => body)).toEqual([{ runs: [{ task: "echo" }] }]);
  });

  it("names the line to continue with when the server refuses the whole call", async () => {
    let calls = 0;
    serveBy(({ body }) => {
      if (++calls > 1) return { status: 400, body: { title: "No.", status: 400, code: "bad_request", detail: "no" } };
      return { body: { results: (body as { runs: object[] }).runs.map(() => ({ id: "run_1", is_new: true })) } };
    });
    const io = fakeIo({ env });
    const file = await fileOf(Array.from({ length: 1_500 }, () => '{"task":"echo"}'));
    expect(await runCli(["run", "import", file], io)).toBe(2);
    expect(io.said.join("\n")).toContain("stopped before line 1001; the lines before it are done");
  });

  it("refuses a file that does not exist", async () => {
    const io = fakeIo({ env });
    expect(await runCli(["run", "import", "none.ndjson"], io)).toBe(2);
    expect(io.said.join("\n")).toContain("ENOENT");
  });
});
