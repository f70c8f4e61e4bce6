/** The classes in which due jobs are read and fired: 0 goes first. */
export function priorityClass(priority: number): 0 | 1 | 2 {
  if (priority >= 7) return 0;
  return priority >= 3 ? 1 : 2;
}
