import { type Operation, operations } from "@carillon/contract";
import { similarWord, slipsBetween } from "@carillon/core";

interface Known {
  readonly method: string;
  readonly path: string;
  readonly parts: readonly string[];
}

const known: readonly Known[] = Object.values<Operation>(operations).map(({ method, path }) => {
  return { method, path, parts: partsOf(path) };
});

/** Nobody mistypes a method: one of the same method is meant, if any is. */
const otherMethod = 1_000;

/** The published address that was probably meant, as "POST /v1/jobs/{id}:runNow"; undefined when none is near enough. */
export function similarAddress(method: string, path: string): string | undefined {
  const given = partsOf(path);
  let best: Known | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const one of known) {
    const slips = slipsOf(given, one.parts) + (one.method === method ? 0 : otherMethod);
    if (slips < least) [best, least] = [one, slips];
  }
  return best === undefined ? undefined : `${best.method} ${best.path}`;
}

/** A verb is a part like any other, whether it comes after a colon or a slash. */
function partsOf(path: string): readonly string[] {
  return path.split(/[/:]/);
}

/** Infinite if one of the parts is nothing like what stands there. */
function slipsOf(given: readonly string[], meant: readonly string[]): number {
  if (given.length !== meant.length) return Number.POSITIVE_INFINITY;
  let slips = 0;
  for (const [index, part] of given.entries()) {
    const word = meant[index] ?? "";
    if (part === word || (word.startsWith("{") && part !== "")) continue;
    if (part === "" || !isLike(part, word)) return Number.POSITIVE_INFINITY;
    slips += slipsBetween(part, word);
  }
  return slips;
}

function isLike(part: string, word: string): boolean {
  return similarWord(part, [word]) !== undefined || (part.length > 2 && word.startsWith(part));
}
