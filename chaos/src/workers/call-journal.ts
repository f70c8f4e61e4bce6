/** A run as whoever does it knows it. */
export interface Claim {
  readonly runId: string;
  readonly fence: number;
}

/** What the product's `http` task answers with. */
export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

/** Has the work of a run done by the journal, as the product's `http` task would. */
export async function callJournal(payload: unknown, { runId, fence }: Claim, signal: AbortSignal): Promise<Answered> {
  const { url } = payload as { url: string };
  const headers = { "idempotency-key": runId, "carillon-fence": String(fence) };
  const response = await fetch(url, { method: "POST", headers, signal });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`the journal answered ${response.status}`);
  return { status: response.status, body };
}
