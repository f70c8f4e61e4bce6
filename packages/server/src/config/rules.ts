import { isIP } from "node:net";
import type { ErrorItem } from "@carillon/core";
import { type Config, options } from "./options.js";

/** Rules over several options, checked once each value is right by itself. */
export function crossFieldProblems(config: Config): ErrorItem[] {
  const problems: ErrorItem[] = [];
  if (!isLoopback(config.host)) {
    problems.push({
      pointer: "/host",
      code: "config_invalid",
      detail: `host ${config.host} can be reached from other machines, which needs authentication, and this version has none: use 127.0.0.1, ::1 or localhost`,
    });
  }
  if (config.directDatabaseUrl !== null && config.databaseUrl === null) {
    problems.push({
      pointer: "/direct_database_url",
      code: "config_invalid",
      detail: "direct_database_url is the way past the pooler in database_url: give database_url as well",
    });
  }
  if (config.roles.length < options.roles.default.length) {
    problems.push({
      pointer: "/roles",
      code: "config_invalid",
      detail: "roles cannot be chosen yet: in this version every node does everything, so leave roles out",
    });
  }
  return problems;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
