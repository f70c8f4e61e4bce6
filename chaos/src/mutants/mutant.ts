import type { ViolationKind } from "../judge/verdict.js";
import type { FaultKind } from "../plan/fault.js";

/** One text of the product in place of another. The old one must stand there exactly once, or the mutant is stale. */
export interface Edit {
  /** A statement of packages/store such as `due.fire`, or a module such as `engine/src/wakeups/wakeups.ts`. */
  readonly in: string;
  /** For a module: text that is the same in the source and in what the compiler makes of it. */
  readonly from: string;
  readonly to: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Faults that bring it to light, where the usual plan would hide it behind other causes; none for an empty list. */
  readonly faults?: readonly FaultKind[];
  /** What the judge must find of it, one of these at least: anything else would be found by chance. */
  readonly shownBy?: readonly ViolationKind[];
  /** Set when another guard takes over: nothing may go wrong, and this statement must be seen to refuse writes. */
  readonly guardedBy?: string;
}

const isModule = (edit: Edit): boolean => edit.in.endsWith(".ts");

/** Whether the product reads SQL statements from this path. */
export const isStatementFile = (path: string): boolean => /\/packages\/store\/src\/(?!migrations\/).+\.sql$/.test(path);

/** The text of a statement file with the mutant's changes; unchanged when it has none of the statements. */
export function mutateStatements(mutant: Mutant, text: string): string {
  return mutant.edits
    .filter((edit) => !isModule(edit))
    .reduce((changed, edit) => {
      const head = `-- name: ${edit.in}\n`;
      const from = changed.indexOf(head);
      if (from === -1) return changed;
      const next = changed.indexOf("\n-- name: ", from + head.length);
      const until = next === -1 ? changed.length : next;
      return changed.slice(0, from) + replaced(mutant, edit, changed.slice(from, until)) + changed.slice(until);
    }, text);
}

/** The modules that the mutant changes, as its edits name them. */
export const mutatedModules = (mutant: Mutant): Set<string> =>
  new Set(mutant.edits.filter(isModule).map((edit) => edit.in));

/** The text of a module with the mutant's changes. */
export function mutateModule(mutant: Mutant, module: string, text: string): string {
  const edits = mutant.edits.filter((edit) => edit.in === module);
  return edits.reduce((changed, edit) => replaced(mutant, edit, changed), text);
}

/** `engine/src/wakeups/wakeups.ts` for the address of the built module; null for what is not the product's. */
export function moduleAt(url: string): string | null {
  const [, name, path] = /\/packages\/([a-z-]+)\/dist\/(.+)\.js$/.exec(url) ?? [];
  return name === undefined || path === undefined ? null : `${name}/src/${path}.ts`;
}

function replaced({ name }: Mutant, { in: place, from, to }: Edit, text: string): string {
  const pieces = text.split(from);
  if (pieces.length !== 2)
    throw new Error(`the mutant ${name} finds ${pieces.length - 1} times ${JSON.stringify(from)} in ${place}`);
  return pieces.join(to);
}
