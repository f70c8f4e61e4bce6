import { expect, it } from "vitest";
import { devBanner } from "../../src/nouns/dev.js";

const facts = {
  url: "http://127.0.0.1:8023",
  dataDir: "/srv/.carillon",
  postgres: { version: "18.4", port: 54321, adopted: false },
};

it("the banner of carillon dev contains the URL, the data folder, the database, two lines to try and how to stop", () => {
  const banner = devBanner(facts, "1.2.3", false);
  for (const part of [
    "Carillon 1.2.3",
    facts.url,
    `${facts.url}/docs`,
    "/srv/.carillon",
    "18.4, port 54321",
    "Ctrl-C",
  ]) {
    expect(banner).toContain(part);
  }
  expect(banner.match(/^ {2}curl .*$/gm)).toHaveLength(2);
  expect(banner).not.toContain("\u001b");
});

it("the banner of carillon dev names no data folder for an external database", () => {
  const banner = devBanner({ ...facts, dataDir: null, postgres: { ...facts.postgres, port: null } }, "1.2.3", false);
  expect(banner).not.toContain("Data");
  expect(banner).toContain("PostgreSQL  18.4\n");
});

it("the banner of carillon dev has no colours inside the lines to copy", () => {
  const lines = devBanner(facts, "1.2.3", true).match(/^ {2}curl .*$/gm) ?? [];
  expect(lines).toHaveLength(2);
  expect(lines.join()).not.toContain("\u001b");
});
