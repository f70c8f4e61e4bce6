import { expect, it } from "vitest";
import { describeConfig, maskUrl, resolveConfig } from "../../../src/config/resolve.js";

const resolved = resolveConfig({
  flags: { databaseUrl: "postgres://app:s3cret@db:5432/carillon" },
  env: { CARILLON_DATABASE_CONNECT_TIMEOUT: "90s", CARILLON_QUOTA_READ: "600/60s" },
  file: null,
  cwd: "/srv",
});
const settings = describeConfig(resolved);

it("describes each option with its value, origin, variable and flag", () => {
  expect(settings.find(({ key }) => key === "data_dir")).toEqual({
    key: "data_dir",
    value: "/srv/.carillon",
    origin: "default",
    variable: "CARILLON_DATA_DIR",
    flag: "--data-dir",
    doc: expect.any(String),
  });
});

it("shows a duration in its written form", () => {
  expect(settings.find(({ key }) => key === "database_connect_timeout")?.value).toBe("1m30s");
});

it("shows a quota in its written form", () => {
  const shown = (name: string) => settings.find(({ key }) => key === name)?.value;
  expect([shown("quota_read"), shown("quota_write")]).toEqual(["600/1m", "off"]);
});

it("masks passwords in the description and not in the configuration", () => {
  expect(settings.find(({ key }) => key === "database_url")?.value).toBe("postgres://app:***@db:5432/carillon");
  expect(JSON.stringify(settings)).not.toContain("s3cret");
  expect(resolved.config.databaseUrl).toContain("s3cret");
});

it.each([
  ["postgres://app@db/x", "postgres://app@db/x"],
  ["postgres://app:a:b@c@db/x", "postgres://app:***@db/x"],
  ["postgres://:pw@db/x", "postgres://:***@db/x"],
  ["postgres://db:5432,other:5433/x", "postgres://db:5432,other:5433/x"],
  ["postgres:///x?user=a&password=pw&host=/run", "postgres:///x?user=a&password=***&host=/run"],
])("masks %s as %s", (url, shown) => {
  expect(maskUrl(url)).toBe(shown);
});
