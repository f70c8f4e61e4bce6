import type { Client } from "@carillon/client";
import { type DefaultsOf, type JobCreate, plainRequest } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import { found } from "../input/found.js";
import type { DesiredJob } from "./desired-jobs.js";
import { inParallel } from "./in-parallel.js";

/** Questions under way at a time. */
const lookWidth = 4;

/** What the workers of these tasks say about their runs; a server of an older version knows of none. */
export async function readDefaults(client: Client, tasks: Iterable<string>): Promise<DefaultsOf> {
  const known = await inParallel([...new Set(tasks)], lookWidth, async (name) => {
    const task = await found(client.tasks.get(name));
    return [name, task?.defaults ?? null] as const;
  });
  const byTask = new Map(known);
  return (task) => byTask.get(task);
}

/** What the job means once the server has filled in what it leaves out. What is wrong with that is for the server to say. */
export function plainByDefaults({ body, plain }: DesiredJob, now: number, defaultsOf: DefaultsOf): JobCreate {
  try {
    return plainRequest(body, { now, defaultsOf });
  } catch (error) {
    if (error instanceof CarillonError) return plain;
    throw error;
  }
}
