/** Longer words are not compared: they are no misspellings of short names. */
const maxLength = 64;

/** The most similar word of the list, in any case; undefined if none is similar enough for a hint. */
export function similarWord(given: string, words: readonly string[]): string | undefined {
  if (given.length > maxLength) return undefined;
  const wanted = fold(given);
  let best: string | undefined;
  let least = Math.max(2, Math.floor(given.length / 3)) + 1;
  // Two edits make another word of three letters.
  if (given.length < 4) least = 2;
  for (const word of words) {
    const slips = slipsBetween(wanted, fold(word));
    if (slips < least) {
      best = word;
      least = slips;
    }
  }
  return best;
}

/** The words nearest to another, nearest first: those that share a part of it (as `max_tries` and `max_attempts` do), then by edit distance. */
export function nearestWords(given: string, words: readonly string[], count: number): string[] {
  const wanted = fold(given.slice(0, maxLength));
  const parts = wanted.split(/[_.]/).filter((part) => part.length > 2);
  const ranked = words.map((word) => {
    const folded = fold(word);
    const isRelated = parts.some((part) => folded.includes(part)) || wanted.includes(folded);
    return { word, isRelated, slips: slipsBetween(wanted, folded) };
  });
  ranked.sort((a, b) => Number(b.isRelated) - Number(a.isRelated) || a.slips - b.slips);
  return ranked.slice(0, count).map(({ word }) => word);
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll("-", "_");
}

/** The edit distance: insertions, deletions, replacements and swaps of neighbours. */
export function slipsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
