import { type Option, type OptionName, envName, fileKey, flagName, optionNames, options } from "./options.js";
import { type ResolvedConfig, maskUrl } from "./resolve.js";

/** One line of `carillon server config`. */
export interface SettingView {
  readonly key: string;
  /** Fit to be shown: secrets are masked, durations are written as such. */
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

/** What a flag says of itself: its meaning, its choices and what counts without it. */
export function settingHelp(name: OptionName): string {
  const { doc, kind, default: usual }: Option<unknown> = options[name];
  const value = shown(name, usual);
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
