import type { ClientOptions } from "@carillon/client";
import { CarillonError } from "@carillon/core";
import { RemoteApp, serverOfEnvironment } from "@carillon/worker";
import { LibraryApp } from "./library-app.js";
import type { LibraryOptions } from "./library-options.js";

/** A server by its URL, or the engine inside this process over a database. Without options, what the environment says. */
export function carillon(options: ClientOptions): RemoteApp;
export function carillon(options: LibraryOptions): LibraryApp;
export function carillon(): LibraryApp | RemoteApp;
export function carillon(options: ClientOptions | LibraryOptions = fromEnvironment()): LibraryApp | RemoteApp {
  const library = "databaseUrl" in options || "pool" in options;
  if (library === "url" in options) {
    throw new CarillonError("config_invalid", "give url (a server), or databaseUrl or pool (a database): one of them");
  }
  return "url" in options ? new RemoteApp(options) : new LibraryApp(options);
}

function fromEnvironment(): ClientOptions | LibraryOptions {
  const server = serverOfEnvironment();
  if (server !== null) return server;
  const { CARILLON_DATABASE_URL: databaseUrl } = process.env;
  if (databaseUrl) return { databaseUrl };
  throw new CarillonError(
    "config_invalid",
    "give url, databaseUrl or pool, or set CARILLON_URL or CARILLON_DATABASE_URL",
  );
}
