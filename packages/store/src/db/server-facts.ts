/** What a connection shows of the server behind it. */
export interface ServerFacts {
  readonly versionNum: number;
  readonly version: string;
  /** False when a pooler stands between: the backend is not the one that answered at connect. */
  readonly direct: boolean;
}
