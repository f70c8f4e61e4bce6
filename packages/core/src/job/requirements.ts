/** The labels that a worker must have, as one text: sorted lines of key=value; empty for none. Keys have no =, values no line ends. */
export function requirementText(requires: Readonly<Record<string, string>> = {}): string {
  const keys = Object.keys(requires).sort();
  return keys.map((key) => `${key}=${requires[key] ?? ""}`).join("\n");
}

/** Whether a worker with these labels may take what requires that. */
export function meets(labels: Readonly<Record<string, string>>, requirement: string): boolean {
  if (requirement === "") return true;
  return requirement.split("\n").every((line) => {
    const at = line.indexOf("=");
    return labels[line.slice(0, at)] === line.slice(at + 1);
  });
}
