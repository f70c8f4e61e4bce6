import { Command, type Option } from "commander";
import type { CommandBody, CommandSpec, Commands, DescribedCommand, DescribedFlag } from "./command.js";

/** A noun with its verbs. Its file is loaded when one of them is called. */
export interface Noun {
  /** The line that `carillon --help` shows. */
  readonly summary: string;
  readonly commands: () => Promise<Commands>;
}

/** A command of one word. */
export interface OneWordCommand extends Pick<CommandSpec, "summary" | "changes"> {
  readonly command: () => Promise<CommandBody>;
}

/** Everything that may follow `carillon`, in the groups and the order of its help. */
export const groups: Readonly<Record<string, Readonly<Record<string, Noun | OneWordCommand>>>> = {
  "Start:": {
    dev: {
      summary: "everything in one process: database, scheduler, API and a worker",
      command: async () => (await import("./nouns/dev.js")).dev,
    },
    init: {
      summary: "create a project that runs: tasks, a job, a package.json",
      changes: true,
      command: async () => (await import("./nouns/init.js")).init,
    },
    import: {
      summary: "import jobs from other schedulers",
      commands: async () => (await import("./nouns/import.js")).importCommands,
    },
  },
  "Jobs and their runs:": {
    job: {
      summary: "create, change and list jobs",
      commands: async () => (await import("./nouns/job.js")).jobCommands,
    },
    run: {
      summary: "list, watch, cancel and repeat runs",
      commands: async () => (await import("./nouns/run.js")).runCommands,
    },
    task: {
      summary: "list tasks and run them without a job",
      commands: async () => (await import("./nouns/task.js")).taskCommands,
    },
    why: {
      summary: "explain why a job or a run does not run, or list everything that waits",
      command: async () => (await import("./nouns/why.js")).why,
    },
    top: {
      summary: "a live view: queues, rates, workers, runs",
      command: async () => (await import("./nouns/top.js")).top,
    },
    events: {
      summary: "follow events",
      commands: async () => (await import("./nouns/events.js")).eventCommands,
    },
  },
  "Failures:": {
    "dead-letter": {
      summary: "list runs that failed for good, retry or discard them",
      commands: async () => (await import("./nouns/dead-letter.js")).deadLetterCommands,
    },
    "error-group": {
      summary: "list the kinds of errors",
      commands: async () => (await import("./nouns/dead-letter.js")).errorGroupCommands,
    },
    webhook: {
      summary: "notify other systems when runs end",
      commands: async () => (await import("./nouns/webhook.js")).webhookCommands,
    },
  },
  "Bulk work:": {
    backfill: {
      summary: "watch backfills and abort them",
      commands: async () => (await import("./nouns/backfill.js")).backfillCommands,
    },
    operation: {
      summary: "watch bulk operations and abort them",
      commands: async () => (await import("./nouns/operation.js")).operationCommands,
    },
  },
  "Schedules:": {
    cron: {
      summary: "test cron expressions, offline",
      commands: async () => (await import("./nouns/cron.js")).cronCommands,
    },
    calendar: {
      summary: "check calendars offline, list and change stored ones",
      commands: async () => (await import("./nouns/calendar.js")).calendarCommands,
    },
    window: {
      summary: "list and change maintenance windows",
      commands: async () => (await import("./nouns/window.js")).windowCommands,
    },
  },
  "Limits:": {
    queue: {
      summary: "list queues, pause and purge them, set their order",
      commands: async () => (await import("./nouns/queue.js")).queueCommands,
    },
    limit: {
      summary: "list, set and delete limits",
      commands: async () => (await import("./nouns/limit.js")).limitCommands,
    },
    breaker: {
      summary: "list circuit breakers and close them",
      commands: async () => (await import("./nouns/breaker.js")).breakerCommands,
    },
    namespace: {
      summary: "create namespaces and set their weights",
      commands: async () => (await import("./nouns/namespace.js")).namespaceCommands,
    },
  },
  "Nodes and workers:": {
    worker: {
      summary: "start workers, list, drain and cordon them",
      commands: async () => (await import("./nouns/worker.js")).workerCommands,
    },
    server: {
      summary: "start a node, migrate its database, show its settings",
      commands: async () => (await import("./nouns/server.js")).serverCommands,
    },
    node: {
      summary: "list the nodes of the cluster",
      commands: async () => (await import("./nouns/node.js")).nodeCommands,
    },
    doctor: {
      summary: "check this machine and its database",
      command: async () => (await import("./nouns/server.js")).doctor,
    },
  },
  "This command line:": {
    login: {
      summary: "store the address and key of a server",
      changes: true,
      command: async () => (await import("./nouns/profile.js")).login,
    },
    profile: {
      summary: "choose between servers",
      commands: async () => (await import("./nouns/profile.js")).profileCommands,
    },
    api: {
      summary: "send one request to the API",
      changes: true,
      command: async () => (await import("./nouns/api.js")).api,
    },
    openapi: {
      summary: "print the OpenAPI document",
      command: async () => (await import("./nouns/openapi.js")).openapi,
    },
    completion: {
      summary: "print a script that completes commands in your shell",
      command: async () => (await import("./nouns/completion.js")).completionOf(describeAll),
    },
    version: {
      summary: "print versions",
      command: async () => (await import("./nouns/version.js")).version,
    },
  },
};

/** Every noun and every command of one word by its name. */
export const words: Readonly<Record<string, Noun | OneWordCommand>> = Object.assign({}, ...Object.values(groups));

/** Verbs that users of other products type, by noun. The help shows them beside the verb that they stand for. */
export const aliases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  job: { delete: "cancel" },
};

export const isNoun = (word: Noun | OneWordCommand | undefined): word is Noun =>
  word !== undefined && "commands" in word;

export interface ListedCommand extends Pick<CommandSpec, "summary" | "changes"> {
  /** Noun and verb, or one word. */
  readonly path: readonly [string] | readonly [noun: string, verb: string];
  readonly load: () => Promise<CommandBody>;
}

/** Every command, in the order of the help. Loads the file of every noun. */
export async function allCommands(): Promise<readonly ListedCommand[]> {
  const listed = Object.entries(words).map(async ([name, word]): Promise<ListedCommand[]> => {
    if (!isNoun(word)) {
      const { summary, changes, command } = word;
      return [{ path: [name], summary, ...(changes && { changes }), load: command }];
    }
    return Object.entries(await word.commands()).map(([verb, spec]) => {
      const { summary, changes } = spec;
      return { path: [name, verb], summary, ...(changes && { changes }), load: () => bodyOf(spec) };
    });
  });
  return (await Promise.all(listed)).flat();
}

export async function bodyOf(spec: Commands[string]): Promise<CommandBody> {
  return "load" in spec ? spec.load() : spec;
}

/** Every command with its flags. Loads every module of the command line. */
async function describeAll(): Promise<DescribedCommand[]> {
  return Promise.all(
    (await allCommands()).map(async ({ path, summary, changes = false, load }) => {
      const described = new Command();
      (await load()).define?.(described);
      const flags = described.options.flatMap((option) => (option.hidden ? [] : describedFlag(option)));
      const choices = described.registeredArguments[0]?.argChoices ?? [];
      return { path, summary, changes, flags: [...flags, helpFlag], choices };
    }),
  );
}

const helpFlag: DescribedFlag = {
  long: "--help",
  short: "-h",
  summary: "show help",
  takesValue: false,
  choices: [],
};

function describedFlag({ long, short, description, required, optional, argChoices }: Option): DescribedFlag[] {
  if (!long) return [];
  const takesValue = required || optional;
  return [{ long, ...(short && { short }), summary: description, takesValue, choices: argChoices ?? [] }];
}
