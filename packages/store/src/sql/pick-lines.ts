import type { SqlText } from "../db/queryable.js";

const tagged = /^(.*?)\s*--\?\s*([a-z_ ]+)$/;

/**
 * A statement with those of its optional lines that are chosen. A line that ends with `--? tag` is there only if one of its tags is. The
 * answer has no name: it is planned at each call for its values, so that members of a filter that are absent cost nothing.
 */
export function pickLines({ text }: SqlText, ...tags: readonly string[]): SqlText {
  const lines = text.split("\n").flatMap((line) => {
    const [, content = "", names] = tagged.exec(line) ?? [];
    if (names === undefined) return [line];
    return names.split(" ").some((name) => tags.includes(name)) ? [content] : [];
  });
  return { text: lines.join("\n") };
}
