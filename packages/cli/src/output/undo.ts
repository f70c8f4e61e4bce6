import { type Invocation, textOption } from "../command.js";
import type { Io } from "../io.js";
import { shellWord } from "./shell-word.js";

/** Where a command was sent: the one that takes it back has to go there too. */
const addressFlags = ["profile", "url", "namespace"] as const;

/** Says what was done and the command that takes it back. */
export function sayUndo(io: Io, invocation: Invocation, done: string, undo: string): void {
  io.talk(`carillon: ${done}; undo with: ${undoLine(invocation, undo)}`);
}

/** The whole line to type. A pipe of several commands is written with ` | ` between them. */
export function undoLine(invocation: Invocation, undo: string): string {
  const flags = addressFlags.flatMap((name) => {
    const value = textOption(invocation, name);
    return value === undefined ? [] : [` --${name} ${shellWord(value)}`];
  });
  return undo
    .split(" | ")
    .map((part) => `carillon ${part}${flags.join("")}`)
    .join(" | ");
}

/** Says that nothing takes it back, and what can be done instead. */
export function sayNoUndo(io: Io, done: string, instead?: string): void {
  io.talk(`carillon: ${done}; there is no undo${instead === undefined ? "" : `: ${instead}`}`);
}
