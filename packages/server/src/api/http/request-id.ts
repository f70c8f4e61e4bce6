/** What a caller may name a request: nothing that could forge a line of a log or a header. */
const acceptable = /^[A-Za-z0-9._:/+=-]{1,128}$/;

export const requestIdHeader = "x-request-id";

/** The caller's own id for the call if it is harmless, else a new one. */
export function requestIdOf(given: string | readonly string[] | undefined, newRequestId: () => string): string {
  return typeof given === "string" && acceptable.test(given) ? given : newRequestId();
}
