import type { Profile } from "../profiles.js";
import type { Column } from "../table.js";

/** A profile without its key. */
export interface ShownProfile {
  readonly name: string;
  readonly url: string;
  readonly namespace: string | null;
  readonly has_key: boolean;
  readonly in_use: boolean;
}

export function shownProfile(name: string, { url, namespace, token }: Profile, inUse: boolean): ShownProfile {
  return { name, url, namespace: namespace ?? null, has_key: token !== undefined, in_use: inUse };
}

export const profileColumns: readonly Column<ShownProfile>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "URL", value: ({ url }) => url },
  { title: "NAMESPACE", value: ({ namespace }) => namespace },
  { title: "KEY", value: (profile) => (profile.has_key ? "stored" : null) },
  { title: "IN USE", value: (profile) => (profile.in_use ? "yes" : null) },
];
