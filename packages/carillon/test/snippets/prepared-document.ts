import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Block, fileNameOf, readBlocks } from "./blocks.js";
import { documentDir, type Project, projectOf, withStandIns } from "./project.js";
import { typeCheck } from "./type-check.js";

/** A document with its folder; its TypeScript is checked and can be run. */
export interface PreparedDocument {
  readonly path: string;
  readonly dir: string;
  readonly project: Project;
  readonly blocks: readonly Block[];
  readonly findings: readonly string[];
  /** What is wrong with the types of a block, each with its line, by the line of the block. */
  readonly typeFaults: ReadonlyMap<number, readonly string[]>;
}

interface Source {
  readonly document: string;
  readonly block: Block;
  readonly file: string;
}

/** Reads documents, by their paths, and checks the types of all of them in one go. */
export async function prepareDocuments(
  project: Project,
  documents: ReadonlyMap<string, string>,
): Promise<PreparedDocument[]> {
  const read = [...documents].map(([path, markdown]) => ({ path, ...readBlocks(path, markdown) }));
  const sources: Source[] = [];
  const places = new Map<string, { readonly dir: string; readonly project: Project }>();
  for (const { path, blocks } of read) {
    const dir = await documentDir(project, path);
    places.set(path, { dir, project: await projectOf(project, path) });
    for (const block of blocks.filter(isProgram)) {
      const file = sourceFile(dir, block);
      await writeFile(file, await sourceOf(project, block));
      if (block.language === "ts") sources.push({ document: path, block, file });
    }
  }
  const faults = await typeCheck(
    project,
    sources.map(({ file }) => file),
  );
  return read.map(({ path, blocks, findings }) => ({
    path,
    blocks,
    findings,
    ...(places.get(path) ?? { dir: "", project }),
    typeFaults: new Map(
      sources
        .filter(({ document }) => document === path)
        .map(({ block, file }) => [block.line, faultsOf(block, file, faults)] as const),
    ),
  }));
}

/** Programs are all written before the first is run: one that loads its folder again on change shall not meet changes. */
function isProgram({ language, directives }: Block): boolean {
  return (language === "ts" || language === "js") && directives["not run"] === undefined;
}

function faultsOf(block: Block, file: string, faults: Awaited<ReturnType<typeof typeCheck>>): string[] {
  return faults
    .filter((fault) => fault.file === file)
    .map(({ line, message }) => `${block.line + line - linesBefore(block)}: ${message}`);
}

/** How many lines of its source come before the block itself. */
export function linesBefore(block: Block): number {
  return setupOf(block).split("\n").length - 1;
}

const setupOf = ({ directives }: Block): string => (directives.setup === undefined ? "" : `${directives.setup}\n`);

/** The whole of a block's code: what its directives put before and after it included. */
export function sourceOf(project: Project, block: Block): Promise<string> {
  const isModule = block.language === "ts" || block.language === "js";
  const text = `${setupOf(block)}${block.text}\n${block.directives.then ?? ""}\n${isModule ? "export {};\n" : ""}`;
  return withStandIns(project, text);
}

export function sourceFile(dir: string, block: Block): string {
  return join(dir, fileNameOf(block) ?? `block-${block.line}.${block.language}`);
}
