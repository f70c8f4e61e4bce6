import { workerCommand } from "../input/worker-argument.js";

export const command = workerCommand(
  "cordon",
  `
It is given nothing more; what it has it may end.

Example:
  $ carillon worker cordon wrk_01k9zq3v5e0r8t2b7n4m6x1c9d`,
  "uncordon",
);
