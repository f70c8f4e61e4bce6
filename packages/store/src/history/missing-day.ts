import { sqlStateOf } from "../db/classify.js";
import type { DayPartitions } from "./day-partitions.js";
import type { Instant } from "@carillon/core";

const checkViolation = "23514";

/**
 * Days are made ahead; if one is missing all the same (a node that slept for weeks), the first write into it makes it and is
 * done again. PostgreSQL reports a row without a partition as a violated check.
 */
export async function makingMissingDay<Result>(
  days: Pick<DayPartitions, "ensure">,
  now: () => Instant,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (sqlStateOf(error) !== checkViolation) throw error;
    await days.ensure(now(), 1);
    return write();
  }
}
