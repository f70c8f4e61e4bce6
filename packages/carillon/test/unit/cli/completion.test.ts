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
    const answer = (question: string): string =>
      execFileSync("bash", ["-c", `${io.written()}\n${question}`], { encoding: "utf8" });
    expect(answer(ask)).toBe("watch\n");
    const at = (...words: string[]): string =>
      answer(`COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _carillon; echo "\${COMPREPLY[@]}"`);
    expect(at("carillon", "job", "create", "--ta")).toBe("--task\n");
    expect(at("carillon", "top", "--so")).toBe("--sort\n");
    expect(at("carillon", "job", "create", "file")).toBe("\n");
  });

  it("refuses other shells", async () => {
    expect(await runCli(["completion", "cmd"], fakeIo())).toBe(2);
  });
});
