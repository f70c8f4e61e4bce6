/** Where executors find what no payload may hold. */
export interface Secrets {
  /** Undefined: there is none of this name. */
  find(name: string): Promise<string | undefined>;
}

export const secretName = /^[A-Za-z][A-Za-z0-9_]{0,99}$/;
const prefix = "CARILLON_SECRET_";

/** Secrets of the worker's environment: `api_token` is CARILLON_SECRET_API_TOKEN. */
export function environmentSecrets(env: Readonly<Record<string, string | undefined>>): Secrets {
  return {
    find: (name) => Promise.resolve(secretName.test(name) ? env[`${prefix}${name.toUpperCase()}`] : undefined),
  };
}
