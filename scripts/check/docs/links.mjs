// Every relative link, image and anchor of the Markdown files leads somewhere.
import { posix } from "node:path";
import { anchorsOf, linksOf } from "./markdown.mjs";

const isElsewhere = (target) => /^[a-z][a-z0-9+.-]*:/i.test(target);

/**
 * @param {Map<string, string>} documents texts by path from the repository's root
 * @param {(path: string) => boolean} exists whether a file or folder is there
 * @returns {string[]} one line for each link that leads nowhere
 */
export function brokenLinks(documents, exists) {
  const anchors = new Map([...documents].map(([path, text]) => [path, anchorsOf(text)]));
  return [...documents].flatMap(([path, text]) =>
    linksOf(text).flatMap(({ target, line }) => {
      const reason = isElsewhere(target) ? null : whyBroken(path, target, anchors, exists);
      return reason === null ? [] : [`${path}:${line}: ${target}: ${reason}`];
    }),
  );
}

function whyBroken(from, target, anchors, exists) {
  const [file, anchor] = target.split("#", 2).map(decodeURIComponent);
  if (file.startsWith("/")) return "links inside the repository are relative";
  const path = file === "" ? from : posix.normalize(posix.join(posix.dirname(from), file)).replace(/\/$/, "");
  if (path.startsWith("..")) return "leads out of the repository";
  if (!exists(path)) return `there is no ${path}`;
  if (anchor === undefined || anchor === "") return null;
  const known = anchors.get(path);
  if (known === undefined) return null; // only Markdown has headings; lines of a source file are not checked
  return known.has(anchor) ? null : `${path} has no heading for #${anchor}`;
}
