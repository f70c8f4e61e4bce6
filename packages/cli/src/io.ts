import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ImportedFile } from "./import-trace.js";
import { systemClock, systemTimers } from "@carillon/core";

/** A command's access to the outside. Data goes to `out`, messages to `info`; tests pass a fake. */
export interface Io {
  readonly stdin: Readable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Standard output is a terminal whose user has not asked for no colours. */
  readonly stdoutColour: boolean;
  readonly stderrColour: boolean;
  readonly stderrIsTerminal: boolean;
  /** Null unless input and output are a terminal. */
  readonly terminal: Terminal | null;
  /** Writes data. Resolves when there is room for more, so that a slow reader slows the writer. */
  out(text: string): Promise<void>;
  /** A line for people. */
  info(line: string): void;
  now(): number;
  /** Called before Ctrl-C ends the process. Returns a function that removes the listener. */
  onInterrupt(listener: () => void): () => void;
  /** Set in the worker of `carillon dev`, which watches these files. */
  readonly onImport?: (file: ImportedFile) => void;
  /** Resolves early when the signal fires. */
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

/** The exit code that shells report for a program that Ctrl-C ended. */
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
 * `carillon … | head` closes the pipe early: that ends the command, and is not a failure. A node drains first. A closed standard error only
 * loses messages, and is no reason to stop.
 */
export function endQuietlyOnClosedPipe(): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error) => {
    const message = outputErrorMessage(error);
    if (message !== null) process.stderr.write(`${message}\n`);
    if (!process.emit("SIGTERM", "SIGTERM")) process.exit(message === null ? 0 : 1);
  });
}

/** The message about output that could not be written; null if its reader closed the pipe. */
export function outputErrorMessage(error: Error): string | null {
  if ("code" in error && (error.code === "EPIPE" || error.code === "ECONNRESET")) return null;
  return `carillon: Not all of the output could be written: ${error.message}`;
}

/** The user's terminal: its keys and its size. */
export interface Terminal {
  size(): { readonly columns: number; readonly rows: number };
  /** Passes on typed keys, without echo, until the returned function is called. Ctrl-C is a key like others meanwhile. */
  onKey(listener: (key: string) => void): () => void;
  onResize(listener: () => void): () => void;
  /** Shows a separate screen until the returned function is called, or the process ends. */
  takeScreen(): () => void;
}

const usualSize = { columns: 80, rows: 24 };
const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";

/** Null if input or output is no terminal. */
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
      const restoreScreen = (): void => void stdout.write(leave);
      const onSignal = (): void => process.exit(0);
      stdout.write(enter);
      process.once("exit", restoreScreen);
      for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, onSignal);
      return () => {
        process.off("exit", restoreScreen);
        for (const signal of ["SIGTERM", "SIGHUP"] as const) process.off(signal, onSignal);
        restoreScreen();
      };
    },
  };
}
