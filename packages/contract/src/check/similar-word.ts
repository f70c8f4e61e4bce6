/** Longer words are not compared: nobody mistypes a field of ours into one. */
const longest = 40;

/** The word of the list that was probably meant: at most two slips away, fewer for short words. */
export function similarWord(given: string, words: readonly string[]): string | undefined {
  if (given.length > longest) return undefined;
  const lower = given.toLowerCase().replaceAll("-", "_");
  let best: string | undefined;
  let least = Math.min(2, Math.floor(given.length / 3)) + 1;
  for (const word of words) {
    const slips = slipsBetween(lower, word.toLowerCase());
    if (slips < least) {
      best = word;
      least = slips;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other. */
function slipsBetween(a: string, b: string): number {
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
