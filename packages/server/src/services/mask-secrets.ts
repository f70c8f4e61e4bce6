/** What a secret looks like wherever it stands, and what is shown in its place. */
const masks: readonly (readonly [RegExp, string])[] = [
  // Between user and host of an address.
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s"'/@:?#]*):[^\s"'/@]+@/gi, "$1:***@"],
  [/([?&](?:password|sslpassword|token|secret|api_key)=)[^&\s"'\\]+/gi, "$1***"],
  [/\b(bearer|basic) +[a-z0-9._~+/=-]{6,}/gi, "$1 ***"],
  [/\bwhsec_[a-z0-9+/=_-]+/gi, "whsec_***"],
  // Whoever has the address of a callback may end a run.
  [/(\/callbacks\/)[^\s"'/?#\\]+/g, "$1***"],
];

/** A line of the log as it may leave the process. */
export function maskSecrets(line: string): string {
  return masks.reduce((text, [pattern, shown]) => text.replace(pattern, shown), line);
}

const secretMembers = ["password", "secret", "token", "authorization", "cookie", "apiKey"];

/** Members of an entry that are never shown, in it or one level below. */
export const redactedPaths = secretMembers.flatMap((name) => [name, `*.${name}`]);
