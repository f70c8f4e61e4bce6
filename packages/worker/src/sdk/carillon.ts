import type { ClientOptions } from "@carillon/client";
import { CarillonError } from "@carillon/core";
import { RemoteApp } from "./remote-app.js";

/**
 * A server by its URL; without options, the one that CARILLON_URL names. For processes that need nothing more: the package `carillon` has
 * the same function, and the engine inside the process besides.
 */
export function carillon(options: ClientOptions = serverOfEnvironment() ?? refuse()): RemoteApp {
  return new RemoteApp(options);
}

/** CARILLON_URL with CARILLON_TOKEN and CARILLON_NAMESPACE; null if it is not set. */
export function serverOfEnvironment(): ClientOptions | null {
  const { CARILLON_URL: url, CARILLON_TOKEN: token, CARILLON_NAMESPACE: namespace } = process.env;
  return url ? { url, ...(token && { token }), ...(namespace && { namespace }) } : null;
}

function refuse(): never {
  throw new CarillonError("config_invalid", "give url, or set CARILLON_URL");
}
