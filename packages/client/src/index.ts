export { type Client, createClient, type JobReference } from "./client.js";
export { ApiError, type ApiErrorCode, ServerUnreachable } from "./errors.js";
export type { CallOptions, ClientOptions } from "./transport.js";
