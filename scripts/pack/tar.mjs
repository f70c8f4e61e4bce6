// Just enough of tar to read what npm packs.

const block = 512;

/**
 * The files whose names match, without the folder that npm puts around them.
 * @param {Buffer} tar
 * @param {RegExp} pattern
 * @returns {Map<string, string>}
 */
export function filesOfTar(tar, pattern) {
  const files = new Map();
  for (let at = 0; at + block <= tar.length && tar[at] !== 0;) {
    const field = (from, length) => tar.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 12), 8) || 0;
    const prefix = field(345, 155);
    const name = (prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`).replace(/^[^/]+\//, "");
    if (pattern.test(name)) files.set(name, tar.toString("utf8", at + block, at + block + size));
    at += block + Math.ceil(size / block) * block;
  }
  return files;
}
