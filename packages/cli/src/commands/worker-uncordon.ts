import { workerCommand } from "../input/worker-argument.js";

export const command = workerCommand(
  "uncordon",
  `
It is given runs again. One that was told to end is not called back.

Example:
  $ carillon worker uncordon wrk_01k9zq3v5e0r8t2b7n4m6x1c9d`,
  "cordon",
);
