import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { systemClock, systemTimers } from "@carillon/core";

/** What a command may touch of the outside. Data goes to `out`, talk to `talk`; tests bring their own. */
export interface Io {
  readonly stdin: Readable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Standard output is a terminal whose user has not asked for no colours. */
  readonly stdoutColour: boolean;
  readonly stderrColour: boolean;
  readonly stderrIsTerminal: boolean;
  /** Where somebody sits at both ends. */
  readonly terminal: Terminal | null;
  /** Data, as is. Resolves when there is room for more, so that a slow reader slows the writer. */
  out(text: string): Promise<void>;
  /** A line for people. */
  info(line: string): void;
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
    stdoutColour: colour && stdout.isTTY,
    stderrColour: colour && stderr.isTTY,
    stderrIsTerminal: stderr.isTTY,
    terminal: processTerminal(),
    async out(text) {
      if (!stdout.write(text)) await once(stdout, "drain");
    },
    info: (line) => void stderr.write(`${line}\n`),
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
    const said = outputErrorMessage(error);
    if (said !== null) process.stderr.write(`${said}\n`);
    if (!process.emit("SIGTERM", "SIGTERM")) process.exit(said === null ? 0 : 1);
  });
}

/** What is to be said of output that could not be written; null: its reader has gone, and that is all. */
export function outputErrorMessage(error: Error): string | null {
  if ("code" in error && (error.code === "EPIPE" || error.code === "ECONNRESET")) return null;
  return `carillon: not all of the output could be written: ${error.message}`;
}

/** The terminal at both ends of the command: its keys and its size. */
export interface Terminal {
  size(): { readonly columns: number; readonly rows: number };
  /** Hands over what is typed, unechoed, until the answered function is called. Ctrl-C is a key like others meanwhile. */
  onKey(listener: (key: string) => void): () => void;
  onResize(listener: () => void): () => void;
  /** Shows a screen of its own until the answered function is called, or the process ends. */
  takeScreen(): () => void;
}

const usualSize = { columns: 80, rows: 24 };
const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";

/** Null where input or output is no terminal. */
function processTerminal(): Terminal | null {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) return null;
  return {
    size: () => ({ columns: stdout.columns || usualSize.columns, rows: stdout.rows || usualSize.rows }),
    onKey(listener) {
      const decoder = new StringDecoder("utf8");
      const onData = (chunk: Buffer): void => listener(decoder.write(chunk));
      stdin.setRawMode(true);
      stdin.on("data", onData);
      return () => {
        stdin.off("data", onData);
        stdin.setRawMode(false);
        stdin.pause();
      };
    },
    onResize(listener) {
      stdout.on("resize", listener);
      return () => void stdout.off("resize", listener);
    },
    takeScreen() {
      const giveBack = (): void => void stdout.write(leave);
      const onSignal = (): void => process.exit(0);
      stdout.write(enter);
      process.once("exit", giveBack);
      for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, onSignal);
      return () => {
        process.off("exit", giveBack);
        for (const signal of ["SIGTERM", "SIGHUP"] as const) process.off(signal, onSignal);
        giveBack();
      };
    },
  };
}
