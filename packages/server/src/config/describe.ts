import { maskUrl } from "./mask.js";
import { type Option, type OptionName, optionNames, options } from "./options.js";
import type { ResolvedConfig } from "./resolve.js";
import { envName, fileKey, flagName } from "./spelling.js";

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

function shown(name: OptionName, value: unknown): unknown {
  const option: Option<unknown> = options[name];
  if (option.secret && typeof value === "string") return maskUrl(value);
  return option.kind.show === undefined ? value : option.kind.show(value);
}
