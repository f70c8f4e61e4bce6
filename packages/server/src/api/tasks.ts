import type { TaskInfo } from "@carillon/contract";
import type { TaskView } from "@carillon/engine";
import { notFound } from "./http/errors.js";
import { type ApiOptions, handlers } from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { readAnyName } from "./references.js";

export function taskHandlers({ engine }: ApiOptions) {
  return handlers({
    async listTasks({ query, namespace }) {
      const list = ["tasks", namespace];
      const page = await engine.tasks.list(namespace, pageRequest(query, list, readAnyName));
      return { status: 200, body: { tasks: page.rows.map(toTaskJson), next_page_token: nextPageToken(page, list) } };
    },
    async getTask({ params, namespace }) {
      const name = readAnyName(params.name);
      const task = name === null ? null : await engine.tasks.get(namespace, name);
      if (task === null)
        throw notFound(
          `There is no task ${JSON.stringify(params.name)}: no worker serves it, and no job or run names it.`,
        );
      return { status: 200, body: toTaskJson(task) };
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
