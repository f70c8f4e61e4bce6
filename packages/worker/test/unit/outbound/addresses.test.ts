import { describe, expect, it } from "vitest";
import { AddressRules, checkedAddresses, closedAddress, NonRetryableError } from "../../../src/index.js";

describe("address rules", () => {
  it.each([
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:a9fe:a9fe",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "not an address",
  ])("closes the address %s", (address) => {
    expect(new AddressRules().allowsAddress(address)).toBe(false);
  });

  it.each([
    "8.8.8.8",
    "172.15.0.1",
    "172.32.0.1",
    "100.63.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
  ])("leaves the address %s open", (address) => {
    expect(new AddressRules().allowsAddress(address)).toBe(true);
  });

  it.each([
    ["loopback", "127.0.0.1"],
    ["loopback", "::1"],
    ["loopback", "::ffff:127.0.0.1"],
    ["private", "10.2.3.4"],
    ["10.2.0.0/16", "10.2.3.4"],
    ["10.2.3.4", "10.2.3.4"],
    ["fd00::/8", "fd00::5"],
  ])("opens with the entry %s the address %s", (entry, address) => {
    expect(new AddressRules([entry]).allowsAddress(address)).toBe(true);
  });

  it("opens only the addresses that are allowed", () => {
    const rules = new AddressRules(["10.2.0.0/16", "loopback"]);
    expect(rules.allowsAddress("10.3.0.1")).toBe(false);
    expect(rules.allowsAddress("169.254.169.254")).toBe(false);
  });

  it("opens names, and all subdomains of a name with a star", () => {
    const rules = new AddressRules(["db.internal", "*.svc.internal"]);
    expect(rules.allowsHost("DB.internal.")).toBe(true);
    expect(rules.allowsHost("a.b.svc.internal")).toBe(true);
    expect(rules.allowsHost("svc.internal")).toBe(false);
    expect(rules.allowsHost("evil-svc.internal")).toBe(false);
  });

  it.each(["10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8/8", "http://x", "a b", "*", ""])("refuses the entry %j", (entry) => {
    expect(() => new AddressRules([entry])).toThrow(RangeError);
  });
});

describe("checked addresses", () => {
  const open = { address: "8.8.8.8", family: 4 };
  const closed = { address: "10.0.0.1", family: 4 };

  it("closes a host that has one closed address among open ones", async () => {
    const found = checkedAddresses(new URL("http://two.example"), new AddressRules(), async () => [open, closed]);
    await expect(found).rejects.toThrow(NonRetryableError);
    await expect(found).rejects.toThrow("two.example is at 10.0.0.1");
  });

  it.each([
    "http://127.0.0.1",
    "http://0x7f.1",
    "http://2130706433",
    "http://[::1]",
    "http://[::ffff:7f00:1]",
    "http://127.1",
  ])("recognizes the address in %s without a lookup", async (url) => {
    const found = checkedAddresses(new URL(url), new AddressRules(), () => Promise.reject(new Error("asked")));
    await expect(found).rejects.toThrow("is not a public address");
  });

  it("resolves a name once and returns all of its addresses", async () => {
    let lookups = 0;
    const resolve = async () => (lookups++, [open]);
    expect(await checkedAddresses(new URL("https://one.example/x"), new AddressRules(), resolve)).toEqual([open]);
    expect(lookups).toBe(1);
  });

  it("does not check the addresses of a name that the operator allows", async () => {
    const rules = new AddressRules(["db.internal"]);
    expect(await checkedAddresses(new URL("http://db.internal"), rules, async () => [closed])).toEqual([closed]);
  });
});

describe("names that mean the same everywhere", () => {
  it.each(["localhost", "a.localhost", "localhost.", "ip6-loopback", "metadata.google.internal", "instance-data"])(
    "are closed without a lookup: %s",
    (name) => {
      const why = closedAddress(new URL(`http://${name}/`), new AddressRules());
      expect(why).toMatch(/^\S+ is at \S+, which is not a public address; an operator can open it/);
    },
  );

  it.each([
    ["localhost", "loopback"],
    ["a.localhost", "127.0.0.1"],
    ["metadata.google.internal", "169.254.169.254"],
    ["metadata", "metadata"],
  ])("%s is open if the operator allows %s", (name, allowed) => {
    expect(closedAddress(new URL(`http://${name}/`), new AddressRules([allowed]))).toBeNull();
  });

  it("do not include names that only resemble them", () => {
    for (const name of ["notlocalhost", "localhost.example.com", "metadata.example.com"])
      expect(closedAddress(new URL(`http://${name}/`), new AddressRules())).toBeNull();
  });
});
