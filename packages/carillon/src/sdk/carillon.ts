import { type ClientOptions, clientOptions } from "@carillon/client";
import { checkOptions, type Option } from "@carillon/contract/check";
import { CarillonError } from "@carillon/core";
import { RemoteApp, serverFromEnvironment, serverOfFolder } from "@carillon/worker";
import { LibraryApp } from "./library-app.js";
import { type LibraryOptions, libraryOptions } from "./library-options.js";

/** An app over a server by its URL, or with the engine inside this process over a database. Without options, the environment decides. */
export function carillon(options: ClientOptions): RemoteApp;
export function carillon(options: LibraryOptions): LibraryApp;
export function carillon(): LibraryApp | RemoteApp;
export function carillon(options: ClientOptions | LibraryOptions = fromEnvironment()): LibraryApp | RemoteApp {
  refuseUnclear(options);
  return "url" in options && options.url ? new RemoteApp(options) : new LibraryApp(options);
}

/** Where no place is given, its name may be misspelt. */
const anyOptions: Option<unknown> = {
  ...libraryOptions,
  properties: { ...clientOptions.properties, ...libraryOptions.properties },
  hints: { ...clientOptions.hints, ...libraryOptions.hints },
};

const places = ["url", "databaseUrl", "pool", "dataDir"] as const;

/** Exactly one of them must be set. An unset environment variable is the usual reason for none, so the error names it. */
function refuseUnclear(options: Partial<Record<(typeof places)[number], unknown>>): void {
  if (typeof options !== "object" || options === null)
    throw new CarillonError("config_invalid", 'carillon() takes an object, such as { url: "http://127.0.0.1:8023" }.');
  const [first, second] = places.filter((name) => Boolean(options[name]));
  if (first !== undefined && second === undefined) return;
  const named = places.find((name) => name in options);
  if (first === undefined && named !== undefined) {
    const what = options[named] === "" ? "empty" : String(options[named]);
    throw new CarillonError(
      "config_invalid",
      `The option ${named} is ${what}. Is the environment variable that it comes from set?`,
    );
  }
  if (first === undefined) checkOptions(anyOptions, options, { name: "carillon", code: "config_invalid" });
  throw new CarillonError(
    "config_invalid",
    "Give exactly one of url (a server) and databaseUrl, pool and dataDir (a database).",
  );
}

function fromEnvironment(): ClientOptions | LibraryOptions {
  const server = serverFromEnvironment();
  if (server !== null) return server;
  const { CARILLON_DATABASE_URL: databaseUrl } = process.env;
  if (databaseUrl) return { databaseUrl };
  const local = serverOfFolder();
  if (local !== null) return local;
  throw new CarillonError(
    "config_invalid",
    "Give url, databaseUrl, pool or dataDir, or set CARILLON_URL or CARILLON_DATABASE_URL, or start carillon dev in this folder.",
  );
}
