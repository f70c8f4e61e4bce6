export {
  airflowExecutor,
  createExecutorHost,
  dockerExecutor,
  emailExecutor,
  type HostOptions,
  httpExecutor,
  kubernetesExecutor,
  lambdaExecutor,
  shellExecutor,
  type ShellOptions,
} from "@carillon/executors";
export { workerTimers } from "@carillon/worker";
