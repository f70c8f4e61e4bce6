import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { systemClock, systemTimers } from "@carillon/core";
import { processTerminal, type Terminal } from "./terminal.js";

/** What a command may touch of the outside. Data goes to `out`, talk to `talk`; tests bring their own. */
export interface Io {
  readonly stdin: Readable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Standard output is a terminal whose user has not asked for no colours. */
  readonly outColour: boolean;
  readonly talkColour: boolean;
  readonly talkIsTerminal: boolean;
  /** Where somebody sits at both ends. */
  readonly terminal: Terminal | null;
  /** Data, as is. Resolves when there is room for more, so that a slow reader slows the writer. */
  out(text: string): Promise<void>;
  /** A line for people. */
  talk(line: string): void;
  now(): number;
  /** Before the process ends by Ctrl-C. Answers what takes the listener away. */
  onInterrupt(listener: () => void): () => void;
  /** Over at once when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  const colour = !env["NO_COLOR"] && env["TERM"] !== "dumb";
  return {
    stdin,
    stderr,
    env,
    cwd: process.cwd(),
    outColour: colour && stdout.isTTY,
    talkColour: colour && stderr.isTTY,
    talkIsTerminal: stderr.isTTY,
    terminal: processTerminal(),
    async out(text) {
      if (!stdout.write(text)) await once(stdout, "drain");
    },
    talk: (line) => void stderr.write(`${line}\n`),
    now: () => systemClock.now(),
    onInterrupt,
    sleep,
  };
}

/** What shells answer for a program that Ctrl-C ended. */
const INTERRUPTED = 130;

function onInterrupt(listener: () => void): () => void {
  const onSignal = (): void => {
    listener();
    process.exit(INTERRUPTED);
  };
  process.once("SIGINT", onSignal);
  return () => void process.off("SIGINT", onSignal);
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const over = (): void => {
      systemTimers.clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      resolve();
    };
    const timer = systemTimers.setTimeout(over, ms);
    signal?.addEventListener("abort", over, { once: true });
  });
}

/**
 * `carillon … | head` closes the pipe early: that is a wish to stop, not a failure. A node that serves drains first. Where
 * nobody listens to talk any more, there is nothing to say and no reason to stop.
 */
export function endQuietlyOnClosedPipe(): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error) => {
    const said = lostOutput(error);
    if (said !== null) process.stderr.write(`${said}\n`);
    if (!process.emit("SIGTERM", "SIGTERM")) process.exit(said === null ? 0 : 1);
  });
}

/** What is to be said of output that could not be written; null: its reader has gone, and that is all. */
export function lostOutput(error: Error): string | null {
  if ("code" in error && (error.code === "EPIPE" || error.code === "ECONNRESET")) return null;
  return `carillon: not all of the output could be written: ${error.message}`;
}
