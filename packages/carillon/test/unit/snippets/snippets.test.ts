import { describe, expect, it } from "vitest";
import { fileNameOf, readBlocks } from "../../snippets/blocks.js";
import { commandsOf } from "../../snippets/commands.js";

const page = `# A page

<!-- setup
const a = 1;
-->
<!-- prints: 2 -->

\`\`\`js
// sum.mjs
console.log(a + 1);
\`\`\`

<!-- not run: for this block alone -->
\`\`\`sh
sleep 1
\`\`\`

\`\`\`sh
echo hello
\`\`\`

<!-- only types: far from its block -->

Text in between.

\`\`\`ts
let x: number;
\`\`\`

\`\`\`cron-example
npm is not the point here
\`\`\`
`;

describe("the blocks of a document", () => {
  it("have the comments right before them as their directives, and their lines", () => {
    const { blocks, findings } = readBlocks("page.md", page);
    expect(findings).toEqual(["page.md:30: a block with commands is marked sh"]);
    expect(blocks.map(({ language, line, directives }) => ({ language, line, directives }))).toEqual([
      { language: "js", line: 8, directives: { setup: "const a = 1;", prints: "2" } },
      { language: "sh", line: 14, directives: { "not run": "for this block alone" } },
      { language: "sh", line: 18, directives: {} },
      { language: "ts", line: 26, directives: {} },
    ]);
    expect(blocks.map(fileNameOf)).toEqual(["sum.mjs", null, null, null]);
  });

  it("without a reason for not being run are found", () => {
    expect(readBlocks("page.md", "<!-- not run: -->\n```sh\nls\n```\n").findings).toEqual([
      'page.md:2: "not run" needs a reason',
    ]);
  });

  it("that are files of the same name are found", () => {
    const block = "```js\n// tasks.mjs\n```\n";
    expect(readBlocks("page.md", `${block}${block}`).findings).toEqual([
      "page.md:4: there is a file tasks.mjs already",
    ]);
  });

  it("that are never closed are read to the end", () => {
    expect(readBlocks("page.md", "```sh\nls").blocks.map(({ text }) => text)).toEqual(["ls"]);
  });
});

describe("the commands of a block", () => {
  it("go on over backslashes, quotes and here-documents, and say what they expect", () => {
    const block = [
      "# a comment, isn't it",
      "api=http://127.0.0.1:8023/v1",
      "curl -sS $api/jobs \\",
      "  -d '{",
      '  "task": "echo" }\'  # 201',
      "carillon job get @none  # exit 3",
      "cat <<'END'",
      "it's open",
      "END",
      "",
      "echo 'it'\\''s' # no number",
    ].join("\n");
    expect(commandsOf(block).map(({ line, expected }) => ({ line, expected }))).toEqual([
      { line: 1, expected: null },
      { line: 2, expected: { status: 201 } },
      { line: 5, expected: { code: 3 } },
      { line: 6, expected: null },
      { line: 10, expected: null },
    ]);
  });
});
