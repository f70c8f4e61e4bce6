import type { DurationMs } from "@carillon/core";

/** Which connection an event is about. */
export type ConnectionRole = "pool" | "hot" | "reserved" | "direct" | "dedicated";

/** What the plumbing has to say. Logs and metrics subscribe; tests wait for it. */
export type DatabaseEvent =
  | { readonly type: "database.down"; readonly reason: unknown }
  | { readonly type: "database.up"; readonly downMs: DurationMs }
  | { readonly type: "connection.opened"; readonly role: ConnectionRole; readonly host: string }
  | { readonly type: "connection.lost"; readonly role: ConnectionRole; readonly reason: unknown }
  | { readonly type: "listen.started"; readonly channel: string; readonly again: boolean }
  | { readonly type: "listen.unavailable"; readonly reason: string }
  | { readonly type: "notify.failed"; readonly reason: unknown }
  | { readonly type: "transaction.retried"; readonly sqlState: string | undefined; readonly attempt: number }
  | { readonly type: "statement_names.off"; readonly reason: string }
  | { readonly type: "clock.stepped"; readonly byMs: DurationMs };

export type OnDatabaseEvent = (event: DatabaseEvent) => void;
