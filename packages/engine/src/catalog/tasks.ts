import type { TaskDefaults, TaskView, NodeView, ShardView } from "@carillon/store";
import type { Page, PageRequest } from "../requests.js";

export interface ClusterView {
  readonly nodes: readonly NodeView[];
  readonly shards: readonly ShardView[];
}

/** What there is, for people who look around. */
export interface Catalogue {
  /** By name. */
  listTasks(namespace: string, page: PageRequest): Promise<Page<TaskView>>;
  getTask(namespace: string, name: string): Promise<TaskView | null>;
  /** As this node knows them; null: no worker said anything. */
  defaultsOf(namespace: string, task: string): TaskDefaults | null;
  cluster(): Promise<ClusterView>;
}
