import { describe, expect, it } from "vitest";
import { anchorOf, anchorsOf, linksOf, splitFences } from "../../check/docs/markdown.mjs";
import { brokenLinks } from "../../check/docs/references.mjs";

const exists =
  (...paths: string[]) =>
  (path: string): boolean =>
    paths.includes(path);

describe("the reader of Markdown", () => {
  it("separates fenced blocks and keeps the line numbers of the prose", () => {
    const { prose, fences } = splitFences("one\n```sh\nnpm test\n```\ntwo\n~~~\n```\n~~~\n");
    expect(prose.split("\n")).toEqual(["one", "", "", "", "two", "", "", "", ""]);
    expect(fences).toEqual([
      { language: "sh", text: "npm test", line: 2 },
      { language: "", text: "```", line: 6 },
    ]);
  });

  it("creates anchors as GitHub does, with numbers for repeated headings", () => {
    expect(anchorOf("INV-2: A write under an old `epoch` changes nothing!")).toBe(
      "inv-2-a-write-under-an-old-epoch-changes-nothing",
    );
    expect(anchorsOf('# One\n## Two words\n# One\n```\n# not a heading\n```\n<a id="there"></a>')).toEqual(
      new Set(["one", "two-words", "one-1", "there"]),
    );
  });

  it("finds links of every kind and ignores code", () => {
    const text = '[a](x.md "title") ![b](y.svg)\n[c]: z.md\n<img src="w.svg">\n`[d](no.md)`\n```\n[e](no.md)\n```\n';
    expect(linksOf(text).map(({ target }) => target)).toEqual(["x.md", "y.svg", "z.md", "w.svg"]);
  });
});

describe("the check of links", () => {
  it("finds a link to a file that does not exist, with its line", () => {
    const documents = new Map([["docs/a.md", "fine\n[b](b.md)"]]);
    expect(brokenLinks(documents, exists("docs/a.md"))).toEqual(["docs/a.md:2: b.md: there is no docs/b.md"]);
  });

  it("finds an anchor that no heading has, in the same file and in another", () => {
    const documents = new Map([
      ["a.md", "# Here\n[ok](#here) [wrong](#nowhere) [far](docs/b.md#gone)"],
      ["docs/b.md", "# There\n[back](../a.md#here)"],
    ]);
    expect(brokenLinks(documents, exists("a.md", "docs/b.md"))).toEqual([
      "a.md:2: #nowhere: a.md has no heading for #nowhere",
      "a.md:2: docs/b.md#gone: docs/b.md has no heading for #gone",
    ]);
  });

  it("refuses links that are absolute or leave the repository", () => {
    const documents = new Map([["docs/a.md", "[a](/README.md) [b](../../b.md)"]]);
    expect(brokenLinks(documents, () => true)).toHaveLength(2);
  });

  it("ignores external addresses and accepts folders", () => {
    const documents = new Map([["a.md", "[w](https://example.org/x.md#y) [m](mailto:a@example.org) [d](docs/)"]]);
    expect(brokenLinks(documents, exists("docs"))).toEqual([]);
  });
});
