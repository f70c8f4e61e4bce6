import type { EtcdStatus } from "@carillon/engine";
import { type Finding, fail, ok, warn } from "./checks.js";

type Answer =
  | { readonly endpoint: string; readonly status: EtcdStatus }
  | { readonly endpoint: string; readonly reason: string };

/** One line for each endpoint. One that is away is borne as long as another can be used. */
export async function checkEtcd(
  endpoints: readonly string[],
  ask: (endpoint: string) => Promise<EtcdStatus>,
): Promise<Finding[]> {
  const answers = await Promise.all(endpoints.map((endpoint) => answerOf(endpoint, ask)));
  const canBeUsed = answers.some((answer) => "status" in answer && answer.status.hasLeader);
  const complain = canBeUsed ? warn : fail;
  const findings = answers.map((answer) => {
    if ("reason" in answer) {
      const remedy = "start that server, or correct etcd_endpoints (CARILLON_ETCD_ENDPOINTS)";
      return complain("etcd", `${answer.endpoint} does not answer (${answer.reason})`, remedy);
    }
    const { version, hasLeader } = answer.status;
    if (hasLeader) return ok("etcd", `${answer.endpoint} answers, version ${version}`);
    return complain("etcd", `${answer.endpoint} has no leader`, "start the other servers of its cluster");
  });
  return [...findings, ...mixture(answers)];
}

async function answerOf(endpoint: string, ask: (endpoint: string) => Promise<EtcdStatus>): Promise<Answer> {
  try {
    return { endpoint, status: await ask(endpoint) };
  } catch (error) {
    return { endpoint, reason: reasonOf(error) };
  }
}

/** `fetch` says only that it failed; why is its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}

/** Nodes that ask different clusters would each believe to be alone. */
function mixture(answers: readonly Answer[]): Finding[] {
  const clusters = new Set(answers.flatMap((answer) => ("status" in answer ? [answer.status.clusterId] : [])));
  if (clusters.size <= 1) return [];
  return [fail("etcd", "the endpoints belong to different clusters", "name the servers of one cluster only")];
}
