/** The claim of a run, as its worker has it. */
export interface Claim {
  readonly runId: string;
  readonly fence: number;
}

/** The output of the product's `http` task. */
export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

/** Calls the journal to do the work of a run, as the product's `http` task does. */
export async function callJournal(payload: unknown, { runId, fence }: Claim, signal: AbortSignal): Promise<Answered> {
  const { url } = payload as { url: string };
  const headers = { "idempotency-key": runId, "carillon-fence": String(fence) };
  const response = await fetch(url, { method: "POST", headers, signal });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`The journal answered with ${response.status}.`);
  return { status: response.status, body };
}
