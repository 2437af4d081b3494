import type { Session } from "../database.ts";

/** Facts with after < position ≤ upTo. */
export type Window = { readonly after: bigint; readonly upTo: bigint };

/**
 * State derived from the log: equal logs give equal rows, however often and in whatever windows it ran.
 * `apply` reads no clock, network, environment or randomness.
 */
export type Projection = {
  /** Names the checkpoint and the schema of its tables. Permanent: a new name is a new projection. */
  readonly name: string;
  /** Raised when derived rows would differ; the projection is then rebuilt. */
  readonly version: number;
  /** What the rows depend on besides the log (configuration), as text: rebuilt when it differs. */
  readonly parameters?: string;
  /** Statements that make its empty tables in `schema`. */
  readonly tables: (schema: string) => readonly string[];
  /**
   * Brings the tables of `schema` from `window.after` to `window.upTo`. The session holds two temporary tables:
   * `change`, the facts that began (+1) or ceased (-1) to count in the window, and
   * `dropped`, the blocks that do not count at its end.
   */
  readonly apply: (session: Session, schema: string, window: Window) => Promise<void>;
};
