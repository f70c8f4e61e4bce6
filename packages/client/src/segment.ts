/** One step of a path. Dots alone would be read as "here" and "above" by every URL parser on the way. */
export function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new RangeError(`${JSON.stringify(text)} cannot be an id or a key here`);
  return encodeURIComponent(text);
}
