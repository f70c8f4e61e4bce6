import { type Option, type OptionName, envName, fileKey, flagName, optionNames, options } from "./options.js";
import { type ResolvedConfig, maskUrl } from "./resolve.js";

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
