import { ApiError } from "@carillon/client";

/** What was asked for, or null where there is none. */
export async function found<Thing>(asked: Promise<Thing>): Promise<Thing | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
