import { writeFile } from "node:fs/promises";
import { Client } from "pg";
import { type Block, fileNameOf } from "./blocks.js";
import { Child } from "./child.js";
import { type Command, commandsOf } from "./commands.js";
import { readYaml, sendJson } from "./documents.js";
import { linesBefore, type PreparedDocument, sourceFile, sourceOf } from "./prepared-document.js";
import { type Project, withStandIns } from "./project.js";
import { ShellSession } from "./shell-session.js";

/** Longer than any command of a document takes. */
const LIMIT_MS = 30_000;

export interface Report {
  readonly run: number;
  readonly typeChecked: number;
  /** Places with their reasons. */
  readonly notRun: readonly string[];
  /** What is wrong, a line each. */
  readonly findings: readonly string[];
}

/** Does all that a document says, in its order, as one reader would: in one folder and one shell. */
export async function checkDocument(document: PreparedDocument): Promise<Report> {
  const reader = new Reader(document);
  try {
    for (const block of document.blocks) await reader.follow(block);
  } finally {
    await reader.leave();
  }
  return reader.report();
}

class Reader {
  readonly #project: Project;
  readonly #document: PreparedDocument;
  readonly #shell: ShellSession;
  readonly #staying: { readonly child: Child; readonly line: number }[] = [];
  readonly #findings: string[];
  readonly #notRun: string[] = [];
  #run = 0;
  #typeChecked = 0;

  constructor(document: PreparedDocument) {
    this.#project = document.project;
    this.#document = document;
    this.#shell = new ShellSession(document.dir, document.project.env);
    this.#findings = [...document.findings];
  }

  report(): Report {
    return { run: this.#run, typeChecked: this.#typeChecked, notRun: this.#notRun, findings: this.#findings };
  }

  async follow(block: Block): Promise<void> {
    const { directives, line } = block;
    const faults = this.#document.typeFaults.get(line) ?? [];
    for (const fault of faults) this.#findings.push(`${this.#document.path}:${fault}`);
    if (directives["not run"] !== undefined)
      this.#notRun.push(`${this.#document.path}:${line}: ${directives["not run"]}`);
    else if (directives["only types"] !== undefined) this.#typeChecked += 1;
    else if (faults.length === 0) {
      this.#run += 1;
      await this.#follow(block);
    }
  }

  async #follow(block: Block): Promise<void> {
    const { language, directives, text, line } = block;
    const file = fileNameOf(block);
    if (file !== null && language !== "ts" && language !== "js") await this.#write(block);
    if (language === "sh" && directives.file !== undefined) return undefined;
    if (language === "sh") return directives.stays === undefined ? this.#type(block) : this.#stay(block);
    if (language === "js" || language === "ts") return this.#program(block);
    if (language === "sql") return this.#find(line, await this.#query(await sourceOf(this.#project, block)));
    if (language === "yaml") return this.#find(line, readYaml(text));
    return this.#find(
      line,
      await sendJson(this.#project, block, directives.as ?? (file === null ? undefined : "answer")),
    );
  }

  async #write(block: Block): Promise<void> {
    await writeFile(sourceFile(this.#document.dir, block), await sourceOf(this.#project, block));
  }

  /** Every command of a block, in the shell of the document. */
  async #type(block: Block): Promise<void> {
    const source = await sourceOf(this.#project, block);
    const first = block.line + 1 - linesBefore(block);
    for (const command of commandsOf(source)) {
      const text = await withStandIns(this.#project, command.text);
      const answer = await this.#shell.run(text, LIMIT_MS);
      const wrong = whyWrong(command, answer);
      if (wrong !== null) this.#find(first + command.line, `${command.text}: ${wrong}`, answer.output);
      this.#prints(block, answer.output);
    }
  }

  async #program(block: Block): Promise<void> {
    const file = sourceFile(this.#document.dir, block).replace(/ts$/, "js");
    const child = new Child(process.execPath, [file], { cwd: this.#document.dir, env: this.#project.env });
    if (block.directives.stays !== undefined) return this.#stayed(block, child);
    const ended = await child.end(LIMIT_MS);
    if (ended !== "0") return this.#find(block.line, `ended with ${ended}`, child.output);
    return this.#prints(block, child.output);
  }

  async #stay(block: Block): Promise<void> {
    const { output: variables } = await this.#shell.run("declare -p | grep -E '^declare -[-x] [a-z]+='", LIMIT_MS);
    // The shell itself waits for its command to end on the signal.
    const source = `trap : TERM\n${variables}${await sourceOf(this.#project, block)}`;
    const { dir } = this.#document;
    return this.#stayed(block, new Child("bash", ["-c", source], { cwd: dir, env: this.#project.env }));
  }

  async #stayed({ line, directives }: Block, child: Child): Promise<void> {
    this.#staying.push({ child, line });
    const text = directives.stays ?? "";
    if (!(await child.says(text, LIMIT_MS))) this.#find(line, `did not say "${text}"`, child.output);
  }

  async #query(text: string): Promise<string | null> {
    const client = new Client(this.#project.databaseUrl);
    await client.connect();
    try {
      await client.query(text);
      return null;
    } catch (error) {
      return (error as Error).message;
    } finally {
      await client.end();
    }
  }

  #prints({ line, directives }: Block, output: string): void {
    if (directives.prints !== undefined && !output.includes(directives.prints))
      this.#find(line, `did not print "${directives.prints}"`, output);
  }

  #find(line: number, wrong: string | null, output = ""): void {
    if (wrong !== null) this.#findings.push(`${this.#document.path}:${line}: ${wrong}\n${output}`.trimEnd());
  }

  /** Ends what stayed. */
  async leave(): Promise<void> {
    await this.#shell.close();
    const ends = this.#staying.map(async ({ child, line }) =>
      this.#find(line, await child.stop(LIMIT_MS), child.output),
    );
    await Promise.all(ends);
  }
}

function whyWrong({ text, expected }: Command, answer: { code: number; status: number | null }): string | null {
  if (expected !== null && "code" in expected)
    return answer.code === expected.code ? null : `ended with ${answer.code}, not ${expected.code}`;
  if (answer.code !== 0) return `ended with ${answer.code}`;
  if (expected !== null) return answer.status === expected.status ? null : `answered ${answer.status}`;
  const isGood = answer.status === null || (answer.status >= 200 && answer.status < 300);
  return isGood || !/\bcurl\b/.test(text) ? null : `answered ${answer.status}`;
}
