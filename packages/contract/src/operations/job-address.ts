import { Type } from "typebox";
import type { Alias } from "./operation.js";

export const JobRef = Type.Object({
  id: Type.String({
    description: "The job's id, or @ and its key",
    examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d", "@nightly-report"],
  }),
});

export const etag = 'The job\'s version, as in "v7"';

/** The addresses of a verb that are served beside /v1/jobs/{id}:verb. */
export function verbAliases(verb: string): Alias[] {
  return [{ path: `/v1/jobs/{id}/${verb}` }, { path: `/jobs/{id}:${verb}` }, { path: `/jobs/{id}/${verb}` }];
}
