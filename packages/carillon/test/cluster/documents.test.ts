import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshDatabase } from "@carillon/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CarillonProcess, killStarted } from "../process/carillon-process.js";
import { checkDocument, type Report } from "../snippets/check-document.js";
import { type PreparedDocument, prepareDocuments } from "../snippets/prepared-document.js";
import { makeProject, type Project, root } from "../snippets/project.js";

const guides = readdirSync(join(root, "docs/guides")).map((name) => `docs/guides/${name}`);
const examples = readdirSync(join(root, "examples")).map((name) => `examples/${name}/README.md`);
const paths = ["README.md", ...guides, ...examples];

const planted = `
\`\`\`sh
carillon job destroy @x
curl -sS http://127.0.0.1:8023/v1/jobs/@none  # 200
\`\`\`

\`\`\`js
import { nothing } from "carillon";
\`\`\`

\`\`\`ts
import { task } from "carillon";

task({ name: 7, run: () => null });
\`\`\`

\`\`\`sql
select carillon.absent();
\`\`\`

\`\`\`json
{ "task": "echo", "schedule": { "cron": "61 * * * *" } }
\`\`\`

\`\`\`yaml
a: [1
\`\`\`

<!-- not run: -->
\`\`\`sh
sleep 1000
\`\`\`

<!-- stays: ready -->
\`\`\`sh
echo not so
\`\`\`

<!-- prints: three -->
\`\`\`js
console.log("two");
\`\`\`

\`\`\`
npm run something
\`\`\`
`;

let project: Project;
let prepared: ReadonlyMap<string, PreparedDocument>;
let drop: () => Promise<void>;
let dataDir: string;
const reports: Report[] = [];

beforeAll(async () => {
  const database = await freshDatabase({ migrated: true });
  ({ drop } = database);
  dataDir = await mkdtemp(join(tmpdir(), "carillon-test-"));
  const server = new CarillonProcess(["dev", "--database-url", database.url, "--data-dir", dataDir, "--port", "0"]);
  const [, url = ""] = await server.line(/^ {2}URL +(\S+)$/);
  project = await makeProject({ url, databaseUrl: database.url });
  const texts = paths.map((path) => [path, readFileSync(join(root, path), "utf8")] as const);
  const documents = await prepareDocuments(project, new Map([...texts, ["planted.md", planted]]));
  prepared = new Map(documents.map((one) => [one.path, one]));
});

afterAll(async () => {
  const sum = (count: (report: Report) => number): number => reports.reduce((all, one) => all + count(one), 0);
  const notRun = reports.flatMap((report) => report.notRun);
  console.log(
    `documents: ${sum(({ run }) => run)} blocks run, ${sum(({ typeChecked }) => typeChecked)} only type-checked,`,
  );
  console.log(`${notRun.length} not run:\n${notRun.map((one) => `  ${one}`).join("\n")}`);
  await killStarted();
  await project.remove();
  await drop();
  await rm(dataDir, { recursive: true });
});

function followed(path: string): Promise<Report> {
  const document = prepared.get(path);
  if (document === undefined) throw new Error(`${path} was not read`);
  return checkDocument(document);
}

describe("the commands and code of a document work, in their order:", () => {
  it.each(paths)("%s", async (path) => {
    const report = await followed(path);
    reports.push(report);
    expect(report.findings.join("\n")).toBe("");
  });
});

describe("the check of documents", () => {
  it("the check of documents finds planted mistakes of every kind, with their lines", async () => {
    const { findings, notRun, run } = await followed("planted.md");
    const lines = findings.map((finding) => Number(/^planted\.md:(\d+): /.exec(finding)?.[1]));
    expect(lines.sort((a, b) => a - b)).toEqual([3, 4, 7, 14, 17, 21, 25, 30, 35, 40, 44]);
    expect({ run, notRun: notRun.length }).toEqual({ run: 7, notRun: 1 });
  });
});
