type Labels = Readonly<Record<string, string>>;

/** Reserved keys among the required labels. No label of a user begins with @. */
const versionMark = "@version";
const spotMark = "@spot";
const breakerMark = "@breaker";
/** Stands for the breaker of the task itself. */
const taskBreaker = "*";
const allowed = "allowed";

/** The requirements of a run on its worker. */
export interface Asked {
  readonly labels?: Labels;
  /** Only workers with this version of the task may take the run. */
  readonly version?: string;
  /** Spot workers, which may disappear at any time, may take the run too. */
  readonly allowsSpot?: boolean;
  /** The breaker that guards the run; null for the one of its task. Not a requirement on the worker, but stored with them. */
  readonly breaker?: string | null;
}

/** The labels and task versions that a worker announced. */
export interface Abilities {
  readonly labels?: Labels;
  /** The versions of each task that the worker has. */
  readonly versions?: Readonly<Record<string, readonly string[]>>;
  /** The worker may disappear at any time: it gets only runs that allow spot workers. */
  readonly isSpot?: boolean;
}

/** All requirements of a run as one set of labels, the form in which they are stored. */
export function requirementsOf({ labels = {}, version, allowsSpot = false, breaker }: Asked): Labels {
  return {
    ...labels,
    ...(version !== undefined && { [versionMark]: version }),
    ...(allowsSpot && { [spotMark]: allowed }),
    ...(breaker !== undefined && { [breakerMark]: breaker ?? taskBreaker }),
  };
}

/** Reads a stored set. */
export function askedOf(requires: Labels = {}): ReadRequirements {
  const { [versionMark]: version, [spotMark]: spot, [breakerMark]: breaker, ...labels } = requires;
  return {
    labels,
    ...(version !== undefined && { version }),
    allowsSpot: spot !== undefined,
    ...(breaker !== undefined && { breaker: breaker === taskBreaker ? null : breaker }),
  };
}

type ReadRequirements = Required<Pick<Asked, "labels" | "allowsSpot">> & Pick<Asked, "version" | "breaker">;

/** The breaker that guards runs of a task with these requirements, given as text; null: none. */
export function breakerNameIn(requirement: string, task: string): string | null {
  if (!requirement.includes(breakerMark)) return null;
  const { breaker } = askedOf(requirementsIn(requirement));
  return breaker === undefined ? null : (breaker ?? task);
}

/** The set as text: sorted lines of key=value; empty for none. Keys have no =, values no line breaks. */
export function requirementText(requires: Labels = {}): string {
  const keys = Object.keys(requires).sort();
  return keys.map((key) => `${key}=${requires[key] ?? ""}`).join("\n");
}

/** Whether a worker may take runs of the task with these requirements, given as text. */
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
