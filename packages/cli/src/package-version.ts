import { readFileSync } from "node:fs";

/** The version of the installed package, from its own manifest. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  throw new Error("the package's manifest has no version");
}
