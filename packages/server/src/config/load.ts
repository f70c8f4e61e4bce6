import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CarillonError } from "@carillon/core";
import { type ConfigFile, type ConfigSources, type ResolvedConfig, resolveConfig } from "./resolve.js";

export const CONFIG_FILE = "carillon.config.json";

export interface LoadOptions extends Pick<ConfigSources, "flags" | "env" | "cwd"> {
  /** `--config`; over CARILLON_CONFIG, over carillon.config.json in the working directory if it is there. */
  readonly configPath?: string;
}

/** Reads the configuration file, if any, and settles every option. Throws config_invalid with the whole list. */
export function loadConfig(from: LoadOptions): ResolvedConfig {
  const named = from.configPath ?? (from.env["CARILLON_CONFIG"] || undefined);
  return resolveConfig({ ...from, file: readConfigFile(from.cwd, named) });
}

function readConfigFile(cwd: string, named: string | undefined): ConfigFile | null {
  const path = named ?? CONFIG_FILE;
  const full = resolve(cwd, path);
  try {
    return { path, folder: dirname(full), text: readFileSync(full, "utf8") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (named === undefined && code === "ENOENT") return null;
    throw new CarillonError("config_invalid", `the configuration file ${full} cannot be read (${String(code)})`, {
      cause: error,
    });
  }
}
