import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { runCli } from "../../src/main.js";
import { fakeIo } from "./fake-io.js";

describe("completion", () => {
  it.each(["bash", "zsh", "fish"])("completion %s contains every noun and its verbs", async (shell) => {
    const io = fakeIo();
    expect(await runCli(["completion", shell], io)).toBe(0);
    for (const word of ["webhook", "create", "deliveries", "completion"]) expect(io.written()).toContain(word);
  });

  it("completion bash works in a real bash", async () => {
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
    expect(at("carillon", "job", "list", "-o", "js")).toBe("json jsonl\n");
    expect(at("carillon", "job", "export", "--output", '""')).toBe("yaml json jsonl\n");
    expect(at("carillon", "job", "resume", "@k", "--missed", "l")).toBe("latest\n");
    expect(at("carillon", "completion", "f")).toBe("fish\n");
    expect(at("carillon", "run", "bulk", "re")).toBe("retry\n");
    expect(at("carillon", "help", "ru")).toBe("run\n");
    expect(at("carillon", "help", "run", "wa")).toBe("watch\n");
  });

  it("completion refuses other shells", async () => {
    expect(await runCli(["completion", "cmd"], fakeIo())).toBe(2);
  });
});
