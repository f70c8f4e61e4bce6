import { slipsBetween } from "../spelling/similar-word.js";

/** Names that the platform accepts but does not list, because it lists an older spelling. */
const NEWER_NAMES = ["UTC", "Asia/Kolkata", "Asia/Ho_Chi_Minh", "Asia/Kathmandu", "Asia/Yangon", "Europe/Kyiv"];

/** The zone name nearest to a misspelt one, or to a city alone ("new york"), or null when nothing is near. */
export function suggestZone(name: string): string | null {
  const wanted = fold(name);
  const allowed = Math.max(1, Math.floor(wanted.length / 4));
  let best: string | null = null;
  let bestDistance = allowed + 1;
  for (const candidate of [...NEWER_NAMES, ...Intl.supportedValuesOf("timeZone")]) {
    const city = candidate.slice(candidate.lastIndexOf("/") + 1);
    const wantedCity = wanted.slice(wanted.lastIndexOf("/") + 1);
    // A right city in a wrong region counts as one slip.
    const distance = Math.min(
      slipsBetween(wanted, fold(candidate)),
      slipsBetween(wantedCity, fold(city)) + (wanted.includes("/") ? 1 : 0),
    );
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function fold(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
}
