/** The executors that a worker takes by name, with `--executors`; `shell` has a flag of its own. */
export const executorNames = ["http", "email", "docker", "kubernetes", "lambda", "airflow"] as const;
