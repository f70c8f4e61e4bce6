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
      editDistance(wanted, fold(candidate)),
      editDistance(wantedCity, fold(city)) + (wanted.includes("/") ? 1 : 0),
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

/** Insertions, deletions and substitutions between two short strings. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
