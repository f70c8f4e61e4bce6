/** Searches and counts bits in masks of at most 31 bits, and in masks of 60 bits as two halves of 30. -1 means none. */

/** The lowest set bit at or above `from`. */
export function bitFrom(mask: number, from: number): number {
  const rest = mask >>> from;
  return rest === 0 ? -1 : from + 31 - Math.clz32(rest & -rest);
}

/** The highest set bit at or below `to`. */
export function bitUpTo(mask: number, to: number): number {
  return 31 - Math.clz32(mask & ((2 << to) - 1));
}

export function bit60From(low: number, high: number, from: number): number {
  if (from < 30) {
    const found = bitFrom(low, from);
    if (found >= 0) return found;
    from = 30;
  }
  const found = bitFrom(high, from - 30);
  return found < 0 ? -1 : found + 30;
}

export function bit60UpTo(low: number, high: number, to: number): number {
  if (to >= 30) {
    const found = bitUpTo(high, to - 30);
    if (found >= 0) return found + 30;
    to = 29;
  }
  return bitUpTo(low, to);
}

/** How many of the bits 0 to `end` - 1 are set; `end` is at most 31. */
export function bitsBelow(mask: number, end: number): number {
  let rest = mask & ((1 << end) - 1);
  rest -= (rest >>> 1) & 0x55555555;
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function bits60Below(low: number, high: number, end: number): number {
  return end <= 30 ? bitsBelow(low, end) : bitsBelow(low, 30) + bitsBelow(high, end - 30);
}
