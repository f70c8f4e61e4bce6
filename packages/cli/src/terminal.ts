import { StringDecoder } from "node:string_decoder";

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
export function processTerminal(): Terminal | null {
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
