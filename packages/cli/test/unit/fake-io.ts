import { PassThrough, Readable } from "node:stream";
import type { Io, Terminal } from "../../src/io.js";

export interface FakeIo extends Io {
  /** Everything that was written to standard output. */
  readonly written: () => string;
  /** Every message. */
  readonly said: string[];
  readonly slept: number[];
}

/** An Io for tests: standard input as given, time that moves only by sleeping. */
export function fakeIo(
  given: {
    stdin?: Iterable<string>;
    env?: Record<string, string>;
    now?: number;
    cwd?: string;
    terminal?: Terminal;
    stderrIsTerminal?: boolean;
  } = {},
): FakeIo {
  let output = "";
  let time = given.now ?? Date.parse("2026-02-10T00:00:00Z");
  const said: string[] = [];
  const slept: number[] = [];
  return {
    stdin: Readable.from(given.stdin ?? []),
    stderr: new PassThrough(),
    env: given.env ?? {},
    cwd: given.cwd ?? "/nowhere",
    stdoutColour: false,
    stderrColour: false,
    stderrIsTerminal: given.stderrIsTerminal ?? false,
    terminal: given.terminal ?? null,
    async out(text) {
      output += text;
    },
    info: (line) => void said.push(line),
    now: () => time,
    onInterrupt: () => () => undefined,
    async sleep(ms) {
      slept.push(ms);
      time += ms;
    },
    written: () => output,
    said,
    slept,
  };
}
