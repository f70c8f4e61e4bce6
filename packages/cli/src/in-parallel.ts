/** Calls `act` for each item, at most `width` at a time; the results are in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const turns = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of turns) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  return results;
}
