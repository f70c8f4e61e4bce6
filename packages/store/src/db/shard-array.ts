import { smallintArray } from "./binary-arrays.js";

const made = new WeakMap<readonly number[], Buffer>();

/** Shards as a parameter. A node asks by the same array of a thousand, again and again: it is made once for as long as that array is used. */
export function shardArray(shards: readonly number[]): Buffer {
  let buffer = made.get(shards);
  if (buffer === undefined) made.set(shards, (buffer = smallintArray(shards)));
  return buffer;
}
