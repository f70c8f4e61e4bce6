// Runs a program to its end and returns its exit code and output.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, onLine?: (line: string) => void }} [options]
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>}
 */
export async function runProgram(program, args, { cwd, env, onLine } = {}) {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  const lines = [];
  const output = createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    onLine?.(line);
  });
  const [[code], stderr] = await Promise.all([ended, text(child.stderr), once(output, "close")]);
  return { code, stdout: lines.join("\n"), stderr };
}
