import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { emailExecutor, httpExecutor, shellExecutor } from "../../src/index.js";
import { hostWith } from "./fixture.js";

interface Job {
  readonly task: string;
  readonly payload: unknown;
}

const host = hostWith();
const executors = [httpExecutor(host), shellExecutor(host), emailExecutor(host)];

it.each(["nightly-backup", "digest-email"])("accepts the payload of the example %s", (name) => {
  const path = new URL(`../../../../examples/${name}/job.json`, import.meta.url);
  const { task, payload } = JSON.parse(readFileSync(path, "utf8")) as Job;
  expect(executors.find((one) => one.name === task)?.check(payload)).toEqual([]);
});
