import { CarillonError } from "@carillon/core";

const shape = /^(postgres(?:ql)?:\/\/)(?:(.*)@)?([^/?@]*)([/?].*)?$/s;

/**
 * The hosts of a database URL, each as a URL of its own: `postgres://u:p@a:5432,b:5433/db` names two. pg knows one host
 * per URL; which of ours takes writes is found when connecting. Messages never repeat the URL: it holds a password.
 */
export function hostUrls(url: string): readonly string[] {
  const [, scheme, user, hosts, rest = ""] = shape.exec(url) ?? [];
  if (scheme === undefined || hosts === undefined) {
    throw new CarillonError(
      "database_url_invalid",
      "The database URL is not valid: it must look like postgres://user:password@host:5432/database (several hosts: host1:5432,host2:5432).",
    );
  }
  const names = hosts.split(",");
  if (names.length > 1 && names.includes("")) {
    throw new CarillonError("database_url_invalid", "The database URL has an empty host in its list of hosts.");
  }
  const urls = names.map((host) => `${scheme}${user === undefined ? "" : `${user}@`}${host}${rest}`);
  for (const candidate of urls) assertUrl(candidate);
  return urls;
}

/** host:port of a host URL, fit for a message. */
export function hostLabel(url: string): string {
  const [, , , host] = shape.exec(url) ?? [];
  return host === undefined || host === "" ? "localhost" : decodeURIComponent(host);
}

function assertUrl(url: string): void {
  // A socket directory as host (%2Fvar%2Frun) and a missing host are fine for pg but not for every URL parser.
  const probe = url.replace(
    shape,
    (_all, scheme: string, _user, host: string) => `${scheme}${host === "" ? "localhost" : host}`,
  );
  if (!URL.canParse(probe)) {
    throw new CarillonError(
      "database_url_invalid",
      `The database URL has a host that is not valid: ${hostLabel(url)}.`,
    );
  }
}
