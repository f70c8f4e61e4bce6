import { sqlStateOf } from "../db/classify.js";
import type { HistoryDays } from "./history-days.js";
import type { Instant } from "@carillon/core";

const checkViolation = "23514";

/**
 * Days of history are made ahead; if one is missing all the same (a node that slept for weeks), the first run that ends in
 * it makes it and is written again. PostgreSQL reports a row without a partition as a violated check.
 */
export async function makingMissingDay<Result>(
  days: HistoryDays,
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
