/** The isolation levels that PostgreSQL tells apart. */
export type IsolationLevel = 'read committed' | 'repeatable read' | 'serializable';

/** What all adapters may be told about the transactions that Holdfast opens, as for `ctx.transaction`. */
export interface AdapterOptions {
  /** Default: the database's own, which is read committed unless somebody changed it. */
  readonly isolationLevel?: IsolationLevel | undefined;
}
