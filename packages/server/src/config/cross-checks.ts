import { isIP } from "node:net";
import { type ErrorItem, formatDuration } from "@carillon/core";
import { type Config, type OptionName, fileKey, options } from "./options.js";

/** Rules over several options, checked once each value is right by itself. */
export function crossFieldProblems(config: Config): ErrorItem[] {
  const problems: ErrorItem[] = [];
  if (!isLoopback(config.host)) {
    problems.push(
      problem(
        "host",
        `host ${config.host} can be reached from other machines, which needs authentication, and this version has none: use 127.0.0.1, ::1 or localhost`,
      ),
    );
  }
  if (config.directDatabaseUrl !== null && config.databaseUrl === null) {
    problems.push(
      problem(
        "directDatabaseUrl",
        "direct_database_url is the way past the pooler in database_url: give database_url as well",
      ),
    );
  }
  if (config.roles.length < options.roles.default.length) {
    problems.push(
      problem("roles", "roles cannot be chosen yet: in this version every node does everything, so leave roles out"),
    );
  }
  return [...problems, ...(config.coordinator === "etcd" ? etcdProblems(config) : unusedEtcd(config))];
}

/** etcd counts leases in whole seconds, and with its usual settings grants none below this. */
const SHORTEST_ETCD_LEASE_MS = 2_000;

function etcdProblems({ etcdEndpoints, databaseUrl, lease }: Config): ErrorItem[] {
  const problems: ErrorItem[] = [];
  if (etcdEndpoints === null) {
    problems.push(problem("etcdEndpoints", "etcd_endpoints is missing: coordinator etcd needs to know where etcd is"));
  }
  if (databaseUrl === null) {
    problems.push(
      problem(
        "coordinator",
        "coordinator etcd shares the work among several nodes, and an embedded database has only one: give database_url as well, or leave coordinator out",
      ),
    );
  }
  if (lease < SHORTEST_ETCD_LEASE_MS || lease % 1_000 !== 0) {
    problems.push(
      problem(
        "lease",
        `lease ${formatDuration(lease)} cannot be kept by etcd, which counts whole seconds and at least 2: use 2s or more, such as 5s`,
      ),
    );
  }
  return problems;
}

/** Somebody who names etcd means it to be used. */
function unusedEtcd({ etcdEndpoints }: Config): ErrorItem[] {
  if (etcdEndpoints === null) return [];
  return [
    problem(
      "etcdEndpoints",
      "etcd_endpoints are not used with coordinator postgres: say coordinator etcd, or leave them out",
    ),
  ];
}

const problem = (name: OptionName, detail: string): ErrorItem => ({
  pointer: `/${fileKey(name)}`,
  code: "config_invalid",
  detail,
});

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
