import { lookup } from "node:dns";
import { BlockList, isIP, isIPv4 } from "node:net";
import { NonRetryableError } from "../runtime/errors.js";

/** IPv4 ranges that are closed unless the operator opens them: private, local, shared, documentation and reserved ones. */
const closedV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Link-local: clouds serve credentials here.
  ["169.254.0.0", 16],
  // Internal services of a cloud at a public address.
  ["168.63.129.16", 32],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** In IPv6 only 2000::/3 is public, except for these ranges: tunnels to IPv4, documentation, benchmarks. */
const closedV6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const publicV6: readonly [string, number] = ["2000::", 3];
const keywords: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128", "localhost"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};
const hostName = /^(?:\*\.)?(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_-]{1,63})*$/;

const closed = toBlockList(closedV4, closedV6);
const isPublicV6 = toBlockList([], [publicV6]);

/** Decides which addresses jobs may connect to. */
export class AddressRules {
  readonly #allowed = new BlockList();
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];

  /**
   * `allow` opens closed addresses: it takes addresses, ranges such as 10.0.0.0/8, host names, *.example.internal, and the keywords
   * loopback and private. Throws a RangeError for anything else.
   */
  constructor(allow: readonly string[] = []) {
    for (const entry of allow) for (const one of keywords[entry] ?? [entry]) this.#allow(one.toLowerCase());
  }

  /** Whether the operator allows this name with all of its addresses. */
  allowsHost(host: string): boolean {
    const name = host.toLowerCase().replace(/\.$/, "");
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix));
  }

  allowsAddress(address: string): boolean {
    const plain = plainAddress(address);
    if (plain === null) return false;
    const family = isIPv4(plain) ? "ipv4" : "ipv6";
    if (this.#allowed.check(plain, family)) return true;
    const embedded = family === "ipv6" ? embeddedV4(plain) : null;
    if (embedded !== null) return this.allowsAddress(embedded);
    if (family === "ipv6" && !isPublicV6.check(plain, "ipv6")) return false;
    return !closed.check(plain, family);
  }

  #allow(entry: string): void {
    const [address = "", bits, ...rest] = entry.split("/");
    const family = isIP(address);
    if (family === 0) {
      if (bits !== undefined || !hostName.test(entry)) throw invalidEntry(entry);
      if (entry.startsWith("*.")) this.#suffixes.push(entry.slice(1));
      else this.#names.add(entry);
      return;
    }
    const width = family === 4 ? 32 : 128;
    const prefix = bits === undefined ? width : Number(bits);
    if (rest.length > 0 || bits === "" || !Number.isInteger(prefix) || prefix < 0 || prefix > width)
      throw invalidEntry(entry);
    this.#allowed.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  }
}

function invalidEntry(entry: string): RangeError {
  const expected = "an address, a range such as 10.0.0.0/8, a host name, *.example.internal, loopback or private";
  return new RangeError(`${JSON.stringify(entry)} is not ${expected}`);
}

function toBlockList(v4: typeof closedV4, v6: typeof closedV6): BlockList {
  const list = new BlockList();
  for (const [address, bits] of v4) list.addSubnet(address, bits, "ipv4");
  for (const [address, bits] of v6) list.addSubnet(address, bits, "ipv6");
  return list;
}

function plainAddress(address: string): string | null {
  const [plain = ""] = address.split("%");
  return isIP(plain) === 0 ? null : plain;
}

/** The IPv4 address inside an IPv6 address: mapped (::ffff:0:0/96), compatible (::/96) or translated (64:ff9b::/96). */
function embeddedV4(address: string): string | null {
  // The URL parser normalizes every notation of an address.
  const groups = parseGroups(new URL(`http://[${address}]`).hostname.slice(1, -1));
  const [high = 0, low = 0] = groups.slice(6);
  const prefix = groups.slice(0, 6).join(":");
  const isLocal = high === 0 && low <= 1;
  const isEmbedded = ["0:0:0:0:0:65535", "0:0:0:0:65535:0", "100:65435:0:0:0:0"].includes(prefix);
  if (!isEmbedded && !(prefix === "0:0:0:0:0:0" && !isLocal)) return null;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function parseGroups(canonical: string): number[] {
  const [head = "", tail] = canonical.split("::");
  const read = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [before, after] = [read(head), read(tail ?? "")];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: zeros }, () => 0), ...after];
}

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** Returns all addresses of a name. */
export type ResolveHost = (host: string) => Promise<readonly HostAddress[]>;

const systemResolve: ResolveHost = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true, verbatim: true }, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    );
  });

/**
 * Resolves the host of a URL once and checks all of its addresses: one closed address closes the host. The caller must connect to these
 * addresses without another lookup, because the name could resolve to other ones a moment later.
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
  const refused = found.find(({ address }) => !rules.allowsAddress(address));
  if (refused === undefined) return found;
  throw new NonRetryableError(notPublic(family === 0 ? `${host} is at ${refused.address}, which` : host));
}

/**
 * Why jobs may not connect to a URL whose host is a literal address, or a name that means this machine or the credentials of a cloud; null
 * if they may, or if the host is any other name: that is resolved when a job connects.
 */
export function closedAddress(url: URL, rules: AddressRules): string | null {
  const host = bareHost(url);
  if (isIP(host) !== 0) return rules.allowsAddress(host) ? null : notPublic(host);
  const known = knownAddresses(host);
  if (known.length === 0 || rules.allowsHost(host) || known.some((address) => rules.allowsAddress(address)))
    return null;
  return notPublic(`${host} is at ${known[0]}, which`);
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

const loopbackName = /(?:^|\.)localhost$|^localhost\.localdomain$|^ip6-(?:localhost|loopback)$/;
/** Clouds serve credentials under these names. */
const metadataNames: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.goog",
  "metadata.google.internal",
  "metadata.azure.internal",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** The addresses of names that mean the same everywhere; none for any other name. */
function knownAddresses(host: string): readonly string[] {
  const name = host.toLowerCase().replace(/\.$/, "");
  if (loopbackName.test(name)) return ["127.0.0.1", "::1"];
  return metadataNames.has(name) ? ["169.254.169.254", "fd00:ec2::254"] : [];
}

function notPublic(where: string): string {
  return `${where} is not a public address; an operator can open it with CARILLON_OUTBOUND_ALLOWLIST or --outbound-allowlist`;
}
