/**
 * Whoever locks several runs does it in the order of their ids: a cancellation and the end of its runs wait for one another,
 * never both ways.
 */
export function inLockOrder<Run extends { readonly id: string }>(runs: readonly Run[]): Run[] {
  return runs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
