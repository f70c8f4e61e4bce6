import type { JobSpec, RunPolicy } from "@carillon/core";
import type { EngineApi } from "./engine-api.js";
import type { Enqueueing } from "../enqueue/enqueue.js";
import type { JobChanges } from "./job-changes.js";
import type { SearchPaths } from "@carillon/store";
import type { InNamespace } from "../context.js";

type Declaring = EngineApi & Enqueueing & JobChanges;
type Declare = (namespace: string, specs: readonly { readonly policy: RunPolicy }[]) => Promise<void>;

/** The same calls; the paths of payloads that they declare searchable are known before what is found by them is there. */
export function declarePaths<Api extends Declaring>(api: Api, within: InNamespace, paths: SearchPaths): Api {
  const declare: Declare = async (namespace, specs) => {
    const named = specs.flatMap(({ policy }) => policy.searchable ?? []);
    if (named.length > 0) await within(namespace, (id) => paths.declare(id, named));
  };
  return { ...api, ...creations(api, declare), ...edits(api, declare) };
}

type Creations = Pick<Declaring, "createJob" | "createJobs" | keyof Enqueueing>;

function creations(api: Declaring, declare: Declare): Creations {
  return {
    async createJob(namespace, spec, receipt) {
      await declare(namespace, [spec]);
      return api.createJob(namespace, spec, receipt);
    },
    async createJobs(namespace, specs, receipt) {
      await declare(namespace, specs);
      return api.createJobs(namespace, specs, receipt);
    },
    async enqueue(namespace, spec) {
      if (spec.policy.searchable !== undefined) await declare(namespace, [spec]);
      return api.enqueue(namespace, spec);
    },
    async enqueueShown(namespace, spec, receipt) {
      if (spec.policy.searchable !== undefined) await declare(namespace, [spec]);
      return api.enqueueShown(namespace, spec, receipt);
    },
    async enqueueMany(namespace, specs, receipt) {
      await declare(namespace, specs);
      return api.enqueueMany(namespace, specs, receipt);
    },
    async enqueueIn(tx, namespace, spec, notify) {
      await declare(namespace, [spec]);
      return api.enqueueIn(tx, namespace, spec, notify);
    },
  };
}

type Edits = Pick<Declaring, "editJob" | "upsertJob">;

/** What an edit gives is known only while it has the job: its paths are declared after it. */
function edits(api: Declaring, declare: Declare): Edits {
  return {
    async editJob(namespace, ref, edit, context) {
      const given: JobSpec[] = [];
      const noted: typeof edit = (current, now) => {
        const spec = edit(current, now);
        given.push(spec);
        return spec;
      };
      const job = await api.editJob(namespace, ref, noted, context);
      await declare(namespace, given);
      return job;
    },
    async upsertJob(namespace, key, define, context) {
      const given: JobSpec[] = [];
      const noted: typeof define = (current, now) => {
        const spec = define(current, now);
        given.push(spec);
        return spec;
      };
      const answer = await api.upsertJob(namespace, key, noted, context);
      await declare(namespace, given);
      return answer;
    },
  };
}
