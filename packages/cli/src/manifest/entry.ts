import type { CommandModule } from "../command.js";

export interface CommandEntry {
  /** Noun and verb, or one word. */
  readonly path: readonly [string] | readonly [noun: string, verb: string];
  readonly summary: string;
  /** Another word for the verb, which people bring along. */
  readonly alias?: string;
  /** It changes something, and says how to undo that. */
  readonly changes?: true;
  readonly load: () => Promise<{ readonly command: CommandModule }>;
}
