/** What `carillon` alone says: where to begin, and the commands of every day. */
export function welcome(version: string): string {
  return `Carillon ${version}, a job scheduler on PostgreSQL.

Begin:
  carillon dev                     everything in one process, with a database of its own
  carillon dev ./tasks.js          and with tasks of your own, loaded again when they change
  carillon init my-jobs            a project with a task and a job

With a server that runs:
  carillon task run echo --payload '{"hello":"world"}' --wait
  carillon job create --task echo --every 15m --key ping
  carillon job list                what is scheduled, and when it runs next
  carillon run list                what ran, and how it ended
  carillon why @ping               why a job or a run does not run
  carillon top                     what goes on right now

All commands: carillon --help. One of them: carillon <command> --help
`;
}
