import { formatDuration, parseDuration } from "@carillon/core";

/** How one kind of value is read, and the description of valid values. */
export interface Kind<T> {
  /** Ends the sentence "it must be …". */
  readonly expects: string;
  /** `raw` is text from a flag or the environment, or any JSON value of the file. Undefined: it is invalid. */
  read(raw: unknown): T | undefined;
  /** The values, if there are few. */
  readonly choices?: readonly string[];
  /** The written form of a value, where it differs from the value. */
  readonly show?: (value: unknown) => unknown;
}

export function text(expects: string, pattern: RegExp): Kind<string> {
  return { expects, read: (raw) => (typeof raw === "string" && pattern.test(raw) ? raw : undefined) };
}

/** Any text that is not blank. */
export const anyText: Kind<string> = text("a text that is not empty", /\S/);

export function wholeNumber(min: number, max: number): Kind<number> {
  return {
    expects: `a whole number from ${min} to ${max}`,
    read(raw) {
      const value = typeof raw === "string" && /^\d{1,15}$/.test(raw) ? Number(raw) : raw;
      return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max ? value : undefined;
    },
  };
}

/** Milliseconds, written as a duration; the bounds are written durations, which the message repeats. */
export function duration(min: string, max: string): Kind<number> {
  return {
    expects: `a duration from ${min} to ${max}, such as 500ms, 30s or 5m`,
    read(raw) {
      const value = typeof raw === "string" ? durationOf(raw) : undefined;
      return value !== undefined && value >= parseDuration(min) && value <= parseDuration(max) ? value : undefined;
    },
    show: (value) => (typeof value === "number" ? formatDuration(value) : value),
  };
}

const minWindowMs = 1_000;
const maxWindowMs = 86_400_000;
const maxRequests = 1_000_000;

/** Requests per time, as in 600/1m; whole seconds, since the response headers have these. Null for off. */
export const rateQuota: Kind<{ readonly requests: number; readonly windowMs: number } | null> = {
  expects: `requests and a time, such as 600/1m (up to ${maxRequests} in 1s to 1d, whole seconds), or off`,
  read(raw) {
    if (raw === "off") return null;
    const [, count, time = ""] = (typeof raw === "string" && /^(\d{1,7})\/(\S+)$/.exec(raw.trim())) || [];
    const requests = Number(count);
    const windowMs = durationOf(time);
    if (windowMs === undefined || windowMs % 1_000 !== 0) return undefined;
    const fits = windowMs >= minWindowMs && windowMs <= maxWindowMs;
    return fits && requests >= 1 && requests <= maxRequests ? Object.freeze({ requests, windowMs }) : undefined;
  },
  show: (value) => (isQuota(value) ? `${value.requests}/${formatDuration(value.windowMs)}` : "off"),
};

function isQuota(value: unknown): value is { readonly requests: number; readonly windowMs: number } {
  return typeof value === "object" && value !== null;
}

function durationOf(raw: string): number | undefined {
  try {
    return parseDuration(raw);
  } catch {
    return undefined;
  }
}

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Kind<Choice> {
  return { expects: `one of ${choices.join(", ")}`, choices, read: (raw) => choices.find((choice) => choice === raw) };
}

/** A list without repeats: comma-separated text, or an array in the file. */
export function someOf<const Choice extends string>(choices: readonly Choice[]): Kind<readonly Choice[]> {
  return {
    expects: `one or more of ${choices.join(", ")}`,
    choices,
    read(raw) {
      const words = listed(raw);
      const known = choices.filter((choice) => words.includes(choice));
      return words.length > 0 && words.length === known.length ? Object.freeze(known) : undefined;
    },
  };
}

/** A connection URL; several hosts are allowed, which the URL class cannot parse. */
export const postgresUrl: Kind<string> = text(
  "a PostgreSQL URL, such as postgres://user:password@host:5432/database",
  /^postgres(ql)?:\/\/[^\s]+$/,
);

const httpAddress = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?\/?$/i;

/** Addresses without a path or a password: comma-separated text, or an array in the file. Stored without a final slash. */
export const httpAddresses: Kind<readonly string[]> = {
  expects: "one or more addresses such as http://10.0.0.1:2379, separated by commas",
  read(raw) {
    const words = listed(raw);
    const addresses = words.filter((word) => typeof word === "string" && httpAddress.test(word)).map(withoutSlash);
    return words.length > 0 && words.length === addresses.length ? Object.freeze(addresses) : undefined;
  },
};

/** A public address; a path before the API's own is allowed. Stored without a final slash. */
export const publicUrl: Kind<string> = {
  expects: "an address such as https://carillon.example.com",
  read(raw) {
    const isAddress = typeof raw === "string" && /^https?:\/\/[^\s?#@]+$/i.test(raw) && URL.canParse(raw);
    return isAddress ? withoutSlash(raw) : undefined;
  },
};

const outbound = /^(?:[0-9a-f:.]+(?:\/\d{1,3})?|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)$/i;

/** Private addresses that jobs may connect to: comma-separated text, or an array in the file. */
export const outboundEntries: Kind<readonly string[]> = {
  expects:
    "addresses, ranges such as 10.0.0.0/8, host names, *.example.internal, loopback or private, separated by commas",
  read(raw) {
    const words = listed(raw).filter((word) => typeof word === "string" && outbound.test(word)) as string[];
    return words.length > 0 && words.length === listed(raw).length ? Object.freeze(words) : undefined;
  },
};

const withoutSlash = (address: unknown): string => String(address).replace(/\/$/, "");

function listed(raw: unknown): unknown[] {
  if (typeof raw === "string") return raw.split(",").map((word) => word.trim());
  return Array.isArray(raw) ? raw : [];
}
