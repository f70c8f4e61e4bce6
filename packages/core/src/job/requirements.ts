type Labels = Readonly<Record<string, string>>;

/** What the product itself writes among the labels that are required. No label of a user begins like this. */
const versionMark = "@version";
const spotMark = "@spot";
const breakerMark = "@breaker";
/** The breaker of the task itself. */
const ofTask = "*";
const allowed = "allowed";

/** What a run asks of its worker. */
export interface Asked {
  readonly labels?: Labels;
  /** Only workers that have this version of the task. */
  readonly version?: string;
  /** Also workers that may go at any time. */
  readonly allowsSpot?: boolean;
  /** The breaker that it is behind; null for that of its task. Asks nothing of a worker: it is in the same place. */
  readonly breaker?: string | null;
}

/** What a worker says of itself. */
export interface Abilities {
  readonly labels?: Labels;
  /** By task, the versions of it that the worker has. */
  readonly versions?: Readonly<Record<string, readonly string[]>>;
  /** It may go at any time: it gets only runs that allow it. */
  readonly isSpot?: boolean;
}

/** All that a run asks, as one set: as it is stored with the run. */
export function requirementsOf({ labels = {}, version, allowsSpot = false, breaker }: Asked): Labels {
  return {
    ...labels,
    ...(version !== undefined && { [versionMark]: version }),
    ...(allowsSpot && { [spotMark]: allowed }),
    ...(breaker !== undefined && { [breakerMark]: breaker ?? ofTask }),
  };
}

/** What a stored set stands for. */
export function askedOf(requires: Labels = {}): AskedInFull {
  const { [versionMark]: version, [spotMark]: spot, [breakerMark]: breaker, ...labels } = requires;
  return {
    labels,
    ...(version !== undefined && { version }),
    allowsSpot: spot !== undefined,
    ...(breaker !== undefined && { breaker: breaker === ofTask ? null : breaker }),
  };
}

type AskedInFull = Required<Pick<Asked, "labels" | "allowsSpot">> & Pick<Asked, "version" | "breaker">;

/** The breaker that runs of a task are behind that require this, as one text; null: none. */
export function breakerNameIn(requirement: string, task: string): string | null {
  if (!requirement.includes(breakerMark)) return null;
  const { breaker } = askedOf(requirementsIn(requirement));
  return breaker === undefined ? null : (breaker ?? task);
}

/** The set as one text: sorted lines of key=value; empty for none. Keys have no =, values no line ends. */
export function requirementText(requires: Labels = {}): string {
  const keys = Object.keys(requires).sort();
  return keys.map((key) => `${key}=${requires[key] ?? ""}`).join("\n");
}

/** Whether a worker may take runs of the task that require this, as one text. */
export function meets(worker: Abilities, task: string, requirement: string): boolean {
  const { isSpot = false } = worker;
  if (requirement === "") return !isSpot;
  const { version, labels, allowsSpot } = askedOf(requirementsIn(requirement));
  return (allowsSpot || !isSpot) && hasVersion(worker, task, version) && hasLabels(worker, labels);
}

export function hasVersion({ versions = {} }: Abilities, task: string, version: string | undefined): boolean {
  return version === undefined || (versions[task]?.includes(version) ?? false);
}

export function hasLabels({ labels: has = {} }: Abilities, labels: Labels): boolean {
  return Object.entries(labels).every(([key, value]) => has[key] === value);
}

function requirementsIn(text: string): Labels {
  const lines = text.split("\n").map((line) => [line, line.indexOf("=")] as const);
  return Object.fromEntries(lines.map(([line, at]) => [line.slice(0, at), line.slice(at + 1)]));
}
