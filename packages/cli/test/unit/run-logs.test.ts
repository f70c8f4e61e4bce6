import { afterEach, describe, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const at = "2030-01-01T00:00:00.000Z";
const line = (number: number, over: object = {}) => ({
  at,
  level: "info",
  message: `line ${number}`,
  fields: null,
  fence: 1,
  number,
  ...over,
});

describe("run logs", () => {
  it("run logs prints every page, one line each", async () => {
    const odd = line(2, { level: "warn", message: "a\u001b[2J\nb", fields: { rows: 3 } });
    const calls = serve({ lines: [line(1)], next_page_token: "t" }, { lines: [odd], next_page_token: null });
    const io = fakeIo();
    expect(await runCli(["run", "logs", "run_1"], io)).toBe(0);
    expect(io.written()).toBe(`${at} info  line 1\n${at} warn  a\ufffd[2J\n    b {"rows":3}\n`);
    expect(calls.map(({ url }) => new URL(url).search)).toEqual(["?page_size=1000", "?page_size=1000&page_token=t"]);
  });

  it("run logs -f polls until the log is complete", async () => {
    const calls = serve(
      { lines: [], next_page_token: "t" },
      { lines: [line(1)], next_page_token: "u" },
      { lines: [], next_page_token: null },
    );
    const io = fakeIo();
    expect(await runCli(["run", "logs", "-f", "--level", "warn", "-o", "jsonl", "run_1"], io)).toBe(0);
    expect(JSON.parse(io.written())).toEqual(line(1));
    expect(calls.map(({ url }) => new URL(url).searchParams.get("follow"))).toEqual(["true", "true", "true"]);
    expect(new URL(calls[0]?.url ?? "").searchParams.get("level")).toBe("warn");
  });

  it("run logs refuses an unknown level", async () => {
    expect(await runCli(["run", "logs", "--level", "loud", "run_1"], fakeIo())).toBe(2);
  });
});
