import type { Io } from "./io.js";

/** Longer than any question; whoever sends more without a line end has sent something else. */
const maxLineLength = 1_000_000;

/** Answers standard input line by line, in order. A slow reader of the answers slows the reading of the questions. */
export async function answerLines(io: Io, answer: (line: string) => string): Promise<void> {
  let rest = "";
  io.stdin.setEncoding("utf8");
  for await (const chunk of io.stdin) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxLineLength) {
      lines.push(rest);
      rest = "";
    }
    if (lines.length > 0) await io.out(`${lines.map(answer).join("\n")}\n`);
  }
  if (rest !== "") await io.out(`${answer(rest)}\n`);
}
