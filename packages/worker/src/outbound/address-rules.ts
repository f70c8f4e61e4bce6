import { BlockList, isIP, isIPv4 } from "node:net";

/** Ranges that no job reaches unless it is allowed to: what is private, local, shared, for documentation, or nobody's. */
const closedV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Link-local; clouds serve credentials here.
  ["169.254.0.0", 16],
  // A cloud's own services at a public address.
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

/** Of IPv6 only 2000::/3 is for the public, without these: tunnels to IPv4, documentation, benchmarks. */
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

const closed = listOf(closedV4, closedV6);
const isPublicV6 = listOf([], [publicV6]);

/** Which addresses may be reached. */
export class AddressRules {
  readonly #allowed = new BlockList();
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];

  /**
   * `allow` opens what is closed: addresses, ranges such as 10.0.0.0/8, host names, *.example.internal, and the words loopback
   * and private. Throws a RangeError for anything else.
   */
  constructor(allow: readonly string[] = []) {
    for (const entry of allow) for (const one of keywords[entry] ?? [entry]) this.#allow(one.toLowerCase());
  }

  /** An operator vouches for this name, wherever it leads. */
  allowsHost(host: string): boolean {
    const name = host.toLowerCase().replace(/\.$/, "");
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix));
  }

  allowsAddress(address: string): boolean {
    const plain = plainAddress(address);
    if (plain === null) return false;
    const family = isIPv4(plain) ? "ipv4" : "ipv6";
    if (this.#allowed.check(plain, family)) return true;
    const inner = family === "ipv6" ? innerV4(plain) : null;
    if (inner !== null) return this.allowsAddress(inner);
    if (family === "ipv6" && !isPublicV6.check(plain, "ipv6")) return false;
    return !closed.check(plain, family);
  }

  #allow(entry: string): void {
    const [address = "", bits, ...rest] = entry.split("/");
    const family = isIP(address);
    if (family === 0) {
      if (bits !== undefined || !hostName.test(entry)) throw refusal(entry);
      if (entry.startsWith("*.")) this.#suffixes.push(entry.slice(1));
      else this.#names.add(entry);
      return;
    }
    const width = family === 4 ? 32 : 128;
    const prefix = bits === undefined ? width : Number(bits);
    if (rest.length > 0 || bits === "" || !Number.isInteger(prefix) || prefix < 0 || prefix > width)
      throw refusal(entry);
    this.#allowed.addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  }
}

function refusal(entry: string): RangeError {
  const right = "an address, a range such as 10.0.0.0/8, a host name, *.example.internal, loopback or private";
  return new RangeError(`${JSON.stringify(entry)} is not ${right}`);
}

function listOf(v4: typeof closedV4, v6: typeof closedV6): BlockList {
  const list = new BlockList();
  for (const [address, bits] of v4) list.addSubnet(address, bits, "ipv4");
  for (const [address, bits] of v6) list.addSubnet(address, bits, "ipv6");
  return list;
}

function plainAddress(address: string): string | null {
  const [plain = ""] = address.split("%");
  return isIP(plain) === 0 ? null : plain;
}

/** The IPv4 address inside one of IPv6: mapped (::ffff:0:0/96), compatible (::/96), translated (64:ff9b::/96). */
function innerV4(address: string): string | null {
  // The URL parser writes every form of an address in one way.
  const groups = groupsOf(new URL(`http://[${address}]`).hostname.slice(1, -1));
  const [high = 0, low = 0] = groups.slice(6);
  const prefix = groups.slice(0, 6).join(":");
  const isLocal = high === 0 && low <= 1;
  const isInner = ["0:0:0:0:0:65535", "0:0:0:0:65535:0", "100:65435:0:0:0:0"].includes(prefix);
  if (!isInner && !(prefix === "0:0:0:0:0:0" && !isLocal)) return null;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function groupsOf(canonical: string): number[] {
  const [head = "", tail] = canonical.split("::");
  const read = (text: string): number[] =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [before, after] = [read(head), read(tail ?? "")];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: zeros }, () => 0), ...after];
}
