import type * as YamlPackage from "yaml";

type Yaml = typeof YamlPackage;

let yaml: Yaml | undefined;

/** Reads the package once. Few commands need it, and what renders cannot wait for it. */
export async function loadYaml(): Promise<Yaml> {
  yaml ??= await import("yaml");
  return yaml;
}

/** A value as one document of YAML 1.2; any reader of JSON values gets the same value back. */
export function renderYaml(value: unknown): string {
  if (yaml === undefined) throw new Error("YAML is written before its package was read");
  // Folded lines would be hard to compare, and an alias hard to read.
  return yaml.stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
