import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { CliError } from "../cli-error.js";
import { ExitCode } from "../exit-codes.js";

interface Loader {
  readonly register: () => unknown;
}

/** Makes imports of TypeScript work: newer Nodes read it themselves, older ones by the tsx of the user's own project. */
export async function readTypeScript(path: string): Promise<void> {
  if ("typescript" in process.features && process.features.typescript !== false) return;
  let loader: string;
  try {
    loader = createRequire(path).resolve("tsx/esm/api");
  } catch (cause) {
    throw new CliError(
      ExitCode.usage,
      `this Node (${process.version}) does not read TypeScript: use Node 22.18 or newer, or add tsx to your project ` +
        `(npm install --save-dev tsx), or compile ${path} and name the .js file`,
      { cause },
    );
  }
  const { register } = (await import(pathToFileURL(loader).href)) as Loader;
  register();
}
