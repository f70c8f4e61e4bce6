import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { runCli } from "../../../src/cli/main.js";
import { fakeIo } from "./fake-io.js";

describe("completion", () => {
  it.each(["bash", "zsh", "fish"])("knows every noun and its verbs in %s", async (shell) => {
    const io = fakeIo();
    expect(await runCli(["completion", shell], io)).toBe(0);
    expect(io.written()).toContain("webhook");
    expect(io.written()).toContain("create list");
  });

  it("completes in a real bash", async () => {
    const io = fakeIo();
    await runCli(["completion", "bash"], io);
    const ask = 'COMP_WORDS=(carillon run wa); COMP_CWORD=2; _carillon; echo "${COMPREPLY[@]}"';
    expect(execFileSync("bash", ["-c", `${io.written()}\n${ask}`], { encoding: "utf8" })).toBe("watch\n");
  });

  it("refuses other shells", async () => {
    expect(await runCli(["completion", "cmd"], fakeIo())).toBe(2);
  });
});
