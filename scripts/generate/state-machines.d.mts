import type * as core from "@carillon/core";

export function renderStateMachines(
  tables: Pick<
    typeof core,
    | "initialRunStatuses"
    | "jobStates"
    | "jobTransitions"
    | "runStatuses"
    | "runStatusGroups"
    | "runStatusReasons"
    | "runTransitions"
  >,
): string;
