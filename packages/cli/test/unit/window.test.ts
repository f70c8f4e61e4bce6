import type { Window } from "@carillon/contract";
import { afterEach, expect, it, vi } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";
import { serve } from "./fake-server.js";

afterEach(() => vi.unstubAllGlobals());

const at = "2030-01-01T00:00:00.000Z";
const stamps = { created_at: at, updated_at: at };
const weekly: Window = { name: "night", mode: "hold", queue: "mail", cron: "0 2 * * SUN", duration: "2h", ...stamps };
const once: Window = { name: "move", mode: "skip", labels: { team: "a" }, from: at, to: at, ...stamps };

it("window list prints the jobs and the times of each window", async () => {
  serve({ maintenance_windows: [weekly, once, { ...once, name: "all", labels: {} }], next_page_token: null });
  const io = fakeIo();
  expect(await runCli(["window", "list"], io)).toBe(0);
  expect(io.written()).toMatch(/^night +hold +queue mail +0 2 \* \* SUN \(UTC\) for 2h$/m);
  expect(io.written()).toMatch(/^move +skip +team=a +2030\S+ to 2030\S+$/m);
  expect(io.written()).toMatch(/^all +skip +all jobs/m);
});
