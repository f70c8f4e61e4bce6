/** Module hooks in a thread of the product's process, which replace the text of the modules that a mutant names. */
import type { LoadHook } from "node:module";
import { type Mutant, moduleAt, mutateModule, mutatedModules } from "./mutant.js";
import { mutantNamed } from "./mutants.js";

let mutant: Mutant | null = null;

export function initialize(name: string): void {
  mutant = mutantNamed(name);
}

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  const module = moduleAt(url);
  if (mutant === null || module === null || !mutatedModules(mutant).has(module)) return loaded;
  const { source } = loaded;
  const text = typeof source === "string" ? source : new TextDecoder().decode(source);
  return { ...loaded, source: mutateModule(mutant, module, text) };
};
