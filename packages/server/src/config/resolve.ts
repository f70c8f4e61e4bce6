import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, isAbsolute, resolve } from "node:path";
import { CarillonError, type ErrorItem, formatDuration, similarWord } from "@carillon/core";
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
import { renamedKeys } from "./renamed-keys.js";

/** The text of a configuration file; relative paths in it start at its folder. */
export interface ConfigFile {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
}

/** The sources of values, in order of precedence. Flags are keyed by option name and hold the typed text. */
export interface ConfigSources {
  readonly flags: Readonly<Partial<Record<OptionName, string>>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: ConfigFile | null;
  readonly cwd: string;
}

/** The source of each value, as `carillon server config` shows it. */
export type Origins = Readonly<Record<OptionName, string>>;

export interface ResolvedConfig {
  readonly config: Config;
  readonly origins: Origins;
}

/** Variables with the prefix CARILLON_ that are not options of a node. */
const OTHER_VARIABLES = [
  "CARILLON_URL",
  "CARILLON_CONFIG",
  "CARILLON_SKIP_BUILD",
  "CARILLON_TOKEN",
  // Read by executors.
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

/** Flag over environment over file over default. All mistakes are collected, and reported as one error. */
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
  // Every option was read above; an invalid one is reported below, and the object never leaves this function.
  const config = Object.freeze(values) as Config;
  if (problems.length === 0) problems.push(...crossFieldProblems(config));
  if (problems.length > 0) throw configError(problems);
  return { config, origins: Object.freeze(origins) as Origins };
}

function givenFor(name: OptionName, sources: ConfigSources, fileValues: ReadonlyMap<string, unknown>): Given | null {
  const flag = sources.flags[name];
  if (flag !== undefined) return { raw: flag, origin: flagName(name), folder: sources.cwd };
  const variable = sources.env[envName(name)];
  // Shells and compose files often set a variable to the empty string instead of leaving it out.
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
    const written = JSON.stringify(option.secret && typeof given.raw === "string" ? maskUrl(given.raw) : given.raw);
    problems.push(problem(name, `must be ${option.kind.expects}, not ${written} (from ${given.origin})`));
  }
  return option.path && typeof value === "string" && !isAbsolute(value) ? resolve(given?.folder ?? cwd, value) : value;
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
      detail: `${key} is not a setting${hint(key, known, renamedInFile)} (from ${path})`,
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
      detail: `${name} is not a setting${hint(name, known, renamedVariables)} (from the environment)`,
    }));
}

const renamedInFile = new Map(Object.entries(renamedKeys));
const renamedVariables = new Map([...renamedInFile].map(([old, key]) => [envName(old), envName(key)]));

function hint(word: string, known: readonly string[], renamed: ReadonlyMap<string, string>): string {
  const similar = renamed.get(word) ?? similarWord(word, known);
  return similar === undefined ? "" : `; did you mean ${similar}?`;
}

function configError(items: readonly ErrorItem[]): CarillonError {
  const count = items.length === 1 ? "one mistake" : `${items.length} mistakes`;
  const lines = items.map((item) => `  - ${item.detail}`);
  return new CarillonError("config_invalid", [`The configuration has ${count}:`, ...lines].join("\n"), { items });
}

/** A connection URL without its password, between user and host or as a parameter. */
export function maskUrl(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/?#]*):.*@/, "$1:***@").replace(/([?&](?:password|sslpassword)=)[^&]*/gi, "$1***");
}

export const CONFIG_FILE = "carillon.config.json";

export interface LoadOptions extends Pick<ConfigSources, "flags" | "env" | "cwd"> {
  /** `--config`; takes precedence over CARILLON_CONFIG, and that over carillon.config.json in the working directory. */
  readonly configPath?: string;
}

/** Reads the configuration file, if there is one, and resolves every option. Throws config_invalid with all mistakes. */
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
    throw new CarillonError("config_invalid", `The configuration file ${full} cannot be read (${String(code)}).`, {
      cause: error,
    });
  }
}

/** Rules over several options, checked when each value is valid. */
function crossFieldProblems(config: Config): ErrorItem[] {
  const { host, databaseUrl, databaseDirectUrl, roles, coordinator, etcdEndpoints, shardLease } = config;
  const usesEtcd = coordinator === "etcd";
  const rules: readonly (readonly [isBroken: boolean, name: OptionName, detail: string])[] = [
    [
      !isLoopback(host),
      "host",
      `${host} can be reached from other machines, and this version has no authentication: use 127.0.0.1, ::1 or localhost`,
    ],
    [
      databaseDirectUrl !== null && databaseUrl === null,
      "databaseDirectUrl",
      "is the address behind the pooler in database_url: set database_url as well",
    ],
    [
      roles.length < options.roles.default.length,
      "roles",
      "cannot be chosen in this version, where every node has all roles: leave roles out",
    ],
    [usesEtcd && etcdEndpoints === null, "etcdEndpoints", "is missing: coordinator etcd needs the addresses of etcd"],
    [
      usesEtcd && databaseUrl === null,
      "coordinator",
      "etcd is for several nodes, and an embedded database has only one: set database_url as well, or leave coordinator out",
    ],
    [
      usesEtcd && (shardLease < MIN_ETCD_LEASE_MS || shardLease % 1_000 !== 0),
      "shardLease",
      `${formatDuration(shardLease)} is not possible with etcd, whose leases have whole seconds and at least 2: use 2s or more, such as 5s`,
    ],
    [
      // An operator who names etcd servers expects them to be used.
      !usesEtcd && etcdEndpoints !== null,
      "etcdEndpoints",
      "are not used with coordinator postgres: set coordinator to etcd, or leave them out",
    ],
  ];
  return rules.flatMap(([isBroken, name, detail]) => (isBroken ? [problem(name, detail)] : []));
}

/** etcd leases have whole seconds, and with the default settings of etcd at least these. */
const MIN_ETCD_LEASE_MS = 2_000;

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** One line of `carillon server config`. */
export interface SettingView {
  readonly key: string;
  /** For output: secrets are masked, durations are in their written form. */
  readonly value: unknown;
  readonly origin: string;
  readonly variable: string;
  readonly flag: string;
  readonly doc: string;
}

export function describeConfig({ config, origins }: ResolvedConfig): SettingView[] {
  return optionNames.map((name) => ({
    key: fileKey(name),
    value: shown(name, config[name]),
    origin: origins[name],
    variable: envName(name),
    flag: flagName(name),
    doc: options[name].doc,
  }));
}

/** The help text of a flag: its meaning, its choices and its default. */
export function settingHelp(name: OptionName): string {
  const { doc, kind, default: defaultValue }: Option<unknown> = options[name];
  const value = shown(name, defaultValue);
  const choices = kind.choices === undefined ? [] : [kind.choices.join(", ")];
  const without = value === null ? [] : [`default: ${Array.isArray(value) ? value.join(",") : text(value)}`];
  const notes = [...choices, ...without];
  return notes.length === 0 ? doc : `${doc} (${notes.join("; ")})`;
}

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function shown(name: OptionName, value: unknown): unknown {
  const option: Option<unknown> = options[name];
  if (option.secret && typeof value === "string") return maskUrl(value);
  return option.kind.show === undefined ? value : option.kind.show(value);
}
