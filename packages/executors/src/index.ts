export { airflowExecutor } from "./airflow/airflow-executor.js";
export { dockerExecutor } from "./docker/docker-executor.js";
export { emailExecutor } from "./email/email-executor.js";
export { executorNames } from "./executor-names.js";
export { createExecutorHost, type HostOptions } from "./executor-host.js";
export { httpExecutor } from "./http/http-executor.js";
export { kubernetesExecutor } from "./kubernetes/kubernetes-executor.js";
export { lambdaExecutor } from "./lambda/lambda-executor.js";
export { shellExecutor, type ShellOptions } from "./shell/shell-executor.js";
