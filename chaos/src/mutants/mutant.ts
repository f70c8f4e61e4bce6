import type { ViolationKind } from "../judge/verdict.js";
import type { FaultKind } from "../plan/fault.js";

/** Replaces one text of the product. The old text must occur exactly once, or the mutant is stale. */
export interface Edit {
  /** A statement or a part of packages/store such as `due.fire`, or a module such as `engine/src/wakeups/wakeups.ts`. */
  readonly in: string;
  /** For a module: text that is the same in the source and in the compiled module. */
  readonly from: string;
  readonly to: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Fault kinds that reveal it, if the usual plan would hide it behind other causes; an empty list means no faults. */
  readonly faults?: readonly FaultKind[];
  /** The judge must find at least one of these violations; any other would be found by chance. */
  readonly shownBy?: readonly ViolationKind[];
  /** Set if another guard still holds: the judge must find no violation, and this statement must refuse writes. */
  readonly guardedBy?: string;
}

const isModule = (edit: Edit): boolean => edit.in.endsWith(".ts");

/** Whether the product reads SQL statements from this path. */
export const isStatementFile = (path: string): boolean => /\/packages\/store\/src\/(?!migrations\/).+\.sql$/.test(path);

/** The text of a statement file with the mutant's edits; unchanged if it has none of the statements and parts. */
export function mutateStatements(mutant: Mutant, text: string): string {
  return mutant.edits
    .filter((edit) => !isModule(edit))
    .reduce((changed, edit) => {
      const from = changed.search(new RegExp(`^-- (name|part): ${edit.in}$`, "m"));
      if (from === -1) return changed;
      const next = changed.slice(from).search(/\n-- (name|part): /);
      const until = next === -1 ? changed.length : from + next;
      return changed.slice(0, from) + replaced(mutant, edit, changed.slice(from, until)) + changed.slice(until);
    }, text);
}

/** The modules that the mutant changes, as its edits name them. */
export const mutatedModules = (mutant: Mutant): Set<string> =>
  new Set(mutant.edits.filter(isModule).map((edit) => edit.in));

/** The text of a module with the mutant's edits. */
export function mutateModule(mutant: Mutant, module: string, text: string): string {
  const edits = mutant.edits.filter((edit) => edit.in === module);
  return edits.reduce((changed, edit) => replaced(mutant, edit, changed), text);
}

/** `engine/src/wakeups/wakeups.ts` for the URL of the built module; null if the module is not part of the product. */
export function moduleAt(url: string): string | null {
  const [, name, path] = /\/packages\/([a-z-]+)\/dist\/(.+)\.js$/.exec(url) ?? [];
  return name === undefined || path === undefined ? null : `${name}/src/${path}.ts`;
}

function replaced({ name }: Mutant, { in: place, from, to }: Edit, text: string): string {
  const pieces = text.split(from);
  if (pieces.length !== 2)
    throw new Error(`The mutant ${name} finds ${JSON.stringify(from)} ${pieces.length - 1} times in ${place}.`);
  return pieces.join(to);
}
