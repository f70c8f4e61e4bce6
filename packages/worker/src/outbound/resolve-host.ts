import { lookup } from "node:dns";
import { isIP } from "node:net";
import { NonRetryableError } from "../runtime/errors.js";
import type { AddressRules } from "./address-rules.js";

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type ResolveHost = (host: string) => Promise<readonly HostAddress[]>;

const systemResolve: ResolveHost = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true, verbatim: true }, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    );
  });

/**
 * The addresses of a URL's host, looked up once and checked all: one that is closed closes the host. The caller connects to
 * these and asks nobody again, so that a name cannot lead elsewhere a moment later.
 */
export async function checkedAddresses(
  url: URL,
  rules: AddressRules,
  resolve: ResolveHost = systemResolve,
): Promise<readonly HostAddress[]> {
  const host = bareHost(url);
  const family = isIP(host);
  const found = family === 0 ? await resolve(host) : [{ address: host, family }];
  if (found.length === 0) throw new Error(`the host ${host} has no address`);
  if (rules.allowsHost(host)) return found;
  const closed = found.find(({ address }) => !rules.allowsAddress(address));
  if (closed === undefined) return found;
  throw new NonRetryableError(notPublic(family === 0 ? `${host} is at ${closed.address}, which` : host));
}

/** Why a URL whose host is an address may not be reached; null where it may, or where a name has to be looked up first. */
export function closedAddress(url: URL, rules: AddressRules): string | null {
  const host = bareHost(url);
  return isIP(host) === 0 || rules.allowsAddress(host) ? null : notPublic(host);
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function notPublic(where: string): string {
  return `${where} is not a public address; an operator can open it with CARILLON_OUTBOUND_ALLOWLIST or --outbound-allowlist`;
}
