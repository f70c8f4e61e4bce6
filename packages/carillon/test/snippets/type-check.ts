import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Project, root } from "./project.js";

const run = promisify(execFile);

export interface TypeFault {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

const options = "--strict --skipLibCheck --module nodenext --target es2023 --types node --pretty false";
const faultForm = /^(.+?)\((\d+),\d+\): error (TS\d+: .*)$/;

/** Checks all files in one go, and writes what can be run beside each. */
export async function typeCheck({ dir }: Project, files: readonly string[]): Promise<TypeFault[]> {
  if (files.length === 0) return [];
  const tsc = join(root, "node_modules/.bin/tsc");
  const { stdout } = await run(tsc, [...options.split(" "), ...files], { cwd: dir }).catch(
    (error: { stdout?: string; message: string }) => ({ stdout: error.stdout ?? error.message }),
  );
  return stdout.split("\n").flatMap((text) => {
    const [, file = "", line = "", message = ""] = faultForm.exec(text) ?? [];
    return file === "" ? [] : [{ file: join(dir, file), line: Number(line), message }];
  });
}
