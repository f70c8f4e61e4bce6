import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { hostLabel, hostUrls } from "../../../src/db/options.js";

describe("hostUrls", () => {
  it("leaves a URL of one host as it is", () => {
    const url = "postgresql://u:p%40ss@db.example:5432/app?sslmode=verify-full";
    expect(hostUrls(url)).toEqual([url]);
  });

  it("gives each host of a list the rest of the URL", () => {
    expect(hostUrls("postgres://u:p@a:5432,b:5433,[::1]:5434/app?x=1")).toEqual([
      "postgres://u:p@a:5432/app?x=1",
      "postgres://u:p@b:5433/app?x=1",
      "postgres://u:p@[::1]:5434/app?x=1",
    ]);
  });

  it("treats the last @ before the hosts as the end of the password", () => {
    expect(hostUrls("postgres://u:p@ss,word@a,b/app")).toEqual([
      "postgres://u:p@ss,word@a/app",
      "postgres://u:p@ss,word@b/app",
    ]);
  });

  it.each(["postgres:///app", "postgres://a", "postgres://u@%2Fvar%2Frun/app", "postgres://a?user=u"])(
    "accepts %s",
    (url) => {
      expect(hostUrls(url)).toEqual([url]);
    },
  );

  it.each(["mysql://a/b", "a/b", "", "postgres://a,,b/c", "postgres://a:port/b", "postgres://a b/c"])(
    "refuses %j without repeating it",
    (url) => {
      expect(() => hostUrls(url.replace("://", "://user:secret@"))).toThrow(CarillonError);
      expect(() => hostUrls(url.replace("://", "://user:secret@"))).not.toThrow(/secret/);
    },
  );
});

describe("hostLabel", () => {
  it.each([
    ["postgres://u:secret@db:5432/app", "db:5432"],
    ["postgres:///app", "localhost"],
    ["postgres://u@%2Fvar%2Frun/app", "/var/run"],
  ])("of %s is %s", (url, label) => {
    expect(hostLabel(url)).toBe(label);
  });
});
