import { text } from "node:stream/consumers";
import { CliError, ExitCode } from "../exit-codes.js";
import type { Io, Terminal } from "../io.js";

/** A secret from standard input: typed without an echo on a terminal, else its first line. Empty when there is none. */
export async function readSecret(io: Io, prompt: string): Promise<string> {
  if (io.terminal === null) return ((await text(io.stdin)).split("\n", 1)[0] ?? "").trim();
  io.stderr.write(prompt);
  try {
    return await typed(io.terminal);
  } finally {
    io.stderr.write("\n");
  }
}

function typed(terminal: Terminal): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = "";
    const end = terminal.onKey((keys) => {
      for (const key of keys) {
        if (key === "\r" || key === "\n") {
          end();
          resolve(line.trim());
          return;
        }
        if (key === "\u0003" || key === "\u0004") {
          end();
          reject(new CliError(ExitCode.cancelled, "nothing was stored"));
          return;
        }
        line = key === "\u007f" || key === "\b" ? line.slice(0, -1) : line + key;
      }
    });
  });
}
