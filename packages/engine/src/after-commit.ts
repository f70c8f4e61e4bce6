import { CarillonError, errorCatalogue } from "@carillon/core";

/**
 * Work for the answer of a call whose effect is committed. If the database fails meanwhile, the caller must not take the call for one
 * that did nothing.
 */
export async function afterCommit<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CarillonError) || errorCatalogue[error.code].status < 500) throw error;
    throw new CarillonError("outcome_unknown", "The call took effect, and its result could not be read.", {
      cause: error,
    });
  }
}
