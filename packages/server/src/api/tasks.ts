import type { TaskInfo } from "@carillon/contract";
import type { TaskView } from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiOptions, handlers, ok } from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { readAnyName } from "./references.js";

const taskList = listOf("tasks", toTaskJson, readAnyName);

export function taskHandlers({ engine }: ApiOptions) {
  return handlers({
    listTasks: ({ query, namespace }) => taskList(query, [namespace], (page) => engine.tasks.list(namespace, page)),
    async getTask({ params, namespace }) {
      const name = readAnyName(params.name);
      const task = name === null ? null : await engine.tasks.get(namespace, name);
      const unknown = `There is no task ${JSON.stringify(params.name)}: no worker serves it, and no job or run names it.`;
      return ok(toTaskJson(found(task, unknown)));
    },
  });
}

function toTaskJson({ name, workers, slots, queues, hasJobs, expectedMs, defaults }: TaskView): TaskInfo {
  return {
    name,
    workers,
    slots,
    queues: [...queues],
    has_jobs: hasJobs,
    defaults,
    expected_ms: expectedMs,
  };
}
