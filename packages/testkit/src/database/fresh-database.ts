import { randomBytes } from "node:crypto";
import { asAdmin, createDatabase, dropDatabase } from "./admin.js";
import { migratedTemplate } from "./template.js";
import { testServer, urlOf } from "./test-server.js";

export interface FreshDatabase {
  readonly url: string;
  readonly name: string;
  /** Ends all its sessions and removes it. What is not dropped goes with the run. */
  readonly drop: () => Promise<void>;
}

export interface FreshDatabaseOptions {
  /** With the schema `carillon` at the newest migration, cloned from a template; otherwise empty. */
  readonly migrated?: boolean;
}

let template: Promise<string> | undefined;

/** A database that nobody else uses, on the server of this test run. Callers may be in any number of test workers. */
export async function freshDatabase({ migrated = false }: FreshDatabaseOptions = {}): Promise<FreshDatabase> {
  const server = await testServer();
  if (migrated) template ??= migratedTemplate(server);
  const source = (migrated && (await template)) || "template0";
  const name = `${server.prefix}${randomBytes(6).toString("hex")}`;
  await asAdmin(server, (admin) => createDatabase(admin, name, source));
  return {
    url: urlOf(server, name),
    name,
    drop: () => asAdmin(server, (admin) => dropDatabase(admin, name)),
  };
}
