import { Type } from "typebox";
import { checkValue, isObject } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { limits } from "../schema/limits.js";

/** The published form, with the jobs as yet unread: each is judged by itself, so that one that is wrong is not the others' fault. */
const Envelope = Type.Object(
  { jobs: Type.Array(Type.Unknown(), { maxItems: limits.batch }) },
  { additionalProperties: false },
);

export function readJobBatch(body: unknown): readonly unknown[] {
  const findings = new Findings();
  if (!isObject(body))
    findings.add("", "field_invalid", 'the body must be a JSON object such as {"jobs": [{"task": "echo"}]}');
  const { jobs = [] } = (isObject(body) && checkValue(Envelope, body, { findings })) || {};
  if (findings.size === 0 && jobs.length === 0) {
    findings.add("/jobs", "field_invalid", "the list is empty; send at least one job");
  }
  findings.raise();
  return jobs;
}
