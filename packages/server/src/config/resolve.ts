import { readFileSync } from "node:fs";
import { dirname, isAbsolute, resolve, resolve as resolvePath } from "node:path";
import { CarillonError, type ErrorItem, similarWord } from "@carillon/core";
import { crossFieldProblems } from "./cross-checks.js";
import {
  type Config,
  type Option,
  type OptionName,
  envName,
  fileKey,
  flagName,
  optionNames,
  options,
} from "./options.js";

/** A configuration file as it was read; its folder is where its relative paths count from. */
export interface ConfigFile {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
}

/** Where values come from, strongest first. Flags go by option name and hold what the user typed. */
export interface ConfigSources {
  readonly flags: Readonly<Partial<Record<OptionName, string>>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: ConfigFile | null;
  readonly cwd: string;
}

/** Which source won, in the words that `carillon server config` shows. */
export type Origins = Readonly<Record<OptionName, string>>;

export interface ResolvedConfig {
  readonly config: Config;
  readonly origins: Origins;
}

/** Variables with the product's prefix that are no options of a node. */
const OTHER_VARIABLES = [
  "CARILLON_URL",
  "CARILLON_CONFIG",
  "CARILLON_SKIP_BUILD",
  "CARILLON_TOKEN",
  // Of executors.
  "CARILLON_SMTP_URL",
  "CARILLON_SMTP_FROM",
  "CARILLON_KUBERNETES_URL",
  "CARILLON_KUBERNETES_NAMESPACE",
  "CARILLON_KUBERNETES_CA_FILE",
  "CARILLON_AIRFLOW_URL",
  "CARILLON_AIRFLOW_API",
];
const OTHER_PREFIXES = ["CARILLON_TEST_", "CARILLON_SECRET_", "CARILLON_PLUGIN_"];

interface Given {
  readonly raw: unknown;
  readonly origin: string;
  readonly folder: string;
}

/** Flag over environment over file over default. Every mistake is found before any is reported: one list, one error. */
export function resolveConfig(sources: ConfigSources): ResolvedConfig {
  const problems: ErrorItem[] = [];
  const fileValues = parseFile(sources.file, problems);
  problems.push(...unknownKeys(fileValues, sources.file?.path ?? ""), ...unknownVariables(sources.env));

  const values: Partial<Record<OptionName, unknown>> = {};
  const origins: Partial<Record<OptionName, string>> = {};
  for (const name of optionNames) {
    const given = givenFor(name, sources, fileValues);
    origins[name] = given?.origin ?? "default";
    values[name] = read(name, given, sources.cwd, problems);
  }
  // Every option was read above; one that did not fit is reported below and the object never leaves this function.
  const config = Object.freeze(values) as Config;
  if (problems.length === 0) problems.push(...crossFieldProblems(config));
  if (problems.length > 0) throw configError(problems);
  return { config, origins: Object.freeze(origins) as Origins };
}

function givenFor(name: OptionName, sources: ConfigSources, fileValues: ReadonlyMap<string, unknown>): Given | null {
  const flag = sources.flags[name];
  if (flag !== undefined) return { raw: flag, origin: flagName(name), folder: sources.cwd };
  const variable = sources.env[envName(name)];
  // An empty variable is how many shells and compose files say "not set".
  if (variable !== undefined && variable !== "") return { raw: variable, origin: envName(name), folder: sources.cwd };
  if (sources.file && fileValues.has(fileKey(name))) {
    return { raw: fileValues.get(fileKey(name)), origin: sources.file.path, folder: sources.file.folder };
  }
  return null;
}

function read(name: OptionName, given: Given | null, cwd: string, problems: ErrorItem[]): unknown {
  const option: Option<unknown> = options[name];
  const value = given === null ? option.default : option.kind.read(given.raw);
  if (value === undefined && given !== null) {
    const shown = JSON.stringify(option.secret && typeof given.raw === "string" ? maskUrl(given.raw) : given.raw);
    problems.push(problem(name, `must be ${option.kind.expects}, not ${shown} (from ${given.origin})`));
  }
  return option.path && typeof value === "string" && !isAbsolute(value)
    ? resolvePath(given?.folder ?? cwd, value)
    : value;
}

const problem = (name: OptionName, detail: string): ErrorItem => ({
  pointer: `/${fileKey(name)}`,
  code: "config_invalid",
  detail: `${fileKey(name)} ${detail}`,
});

function parseFile(file: ConfigFile | null, problems: ErrorItem[]): ReadonlyMap<string, unknown> {
  if (file === null) return new Map();
  try {
    const parsed: unknown = JSON.parse(file.text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return new Map(Object.entries(parsed));
    problems.push({ pointer: "", code: "config_invalid", detail: `${file.path} must hold one JSON object` });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push({ pointer: "", code: "config_invalid", detail: `${file.path} is not JSON: ${reason}` });
  }
  return new Map();
}

function unknownKeys(values: ReadonlyMap<string, unknown>, path: string): ErrorItem[] {
  const known = optionNames.map(fileKey);
  return [...values.keys()]
    .filter((key) => key !== "$schema" && !known.includes(key))
    .map((key) => ({
      pointer: `/${key}`,
      code: "config_invalid",
      detail: `${key} is not a setting${hint(key, known)} (from ${path})`,
    }));
}

function unknownVariables(env: ConfigSources["env"]): ErrorItem[] {
  const known = [...optionNames.map(envName), ...OTHER_VARIABLES];
  return Object.keys(env)
    .filter((name) => name.startsWith("CARILLON_") && !known.includes(name))
    .filter((name) => !OTHER_PREFIXES.some((prefix) => name.startsWith(prefix)))
    .map((name) => ({
      pointer: "",
      code: "config_invalid",
      detail: `${name} is not a setting${hint(name, known)} (from the environment)`,
    }));
}

function hint(word: string, known: readonly string[]): string {
  const meant = similarWord(word, known);
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}

function configError(items: readonly ErrorItem[]): CarillonError {
  const count = items.length === 1 ? "one mistake" : `${items.length} mistakes`;
  const lines = items.map((item) => `  - ${item.detail}`);
  return new CarillonError("config_invalid", [`the configuration has ${count}:`, ...lines].join("\n"), { items });
}

/** A connection URL fit to be shown: the password between user and host, and one given as a parameter, become ***. */
export function maskUrl(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/?#]*):.*@/, "$1:***@").replace(/([?&](?:password|sslpassword)=)[^&]*/gi, "$1***");
}

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
