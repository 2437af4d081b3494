import type { Session } from "../database.ts";
import type { FactKind } from "../log/fact-kind.ts";

/** Facts with after < position ≤ upTo. */
export type Window = { readonly after: bigint; readonly upTo: bigint };

/** The facts with a key, of those that hold `where`, make the rows of `tables` with that key, and no others do. */
export type Sample = {
  /** Columns of `log.fact` and of each table. */
  readonly key: readonly string[];
  readonly where: string;
  readonly tables: readonly string[];
};

/** Parts of a step that are done, and how many it has. */
export type Parts = { readonly done: number; readonly of: number };

/**
 * A step of a derivation in bulk, committed before the next one begins. Only the first reads tables of other
 * projections: they go on moving, and the position of all steps is that of its snapshot.
 */
export type Step = {
  /** Tells a killed derivation's steps apart, and its progress. */
  readonly name: string;
  /** Derives from part `part` on, to the step's end or to where it may be committed; then it tells how far it is. */
  readonly derive: (
    session: Session,
    schema: string,
    window: Window,
    part: number,
  ) => Promise<Parts> | Promise<void>;
};

/**
 * State derived from the log: equal logs give equal rows, however often and in whatever windows it ran.
 * `apply` reads no clock, network, environment or randomness.
 */
export type Projection = {
  /** The checkpoint and the schema of the tables go by it: a projection under another name starts from nothing. */
  readonly name: string;
  /** Raised when derived rows would differ; the projection is then rebuilt. */
  readonly version: number;
  /** What the rows depend on besides the log (configuration), as text: rebuilt when it differs. */
  readonly parameters?: string;
  /** Projections whose tables it reads, by their own names. */
  readonly reads?: readonly string[];
  /** Kinds of the facts that `apply` looks for: over a window without them only the checkpoint moves. Absent: all. */
  readonly folds?: readonly FactKind[];
  /** How a few of its keys are verified without the rest; absent: only the whole is. */
  readonly sample?: Sample;
  /** Statements that make its empty tables in `schema`. */
  readonly tables: (schema: string) => readonly string[];
  /**
   * Brings the tables of `schema` from `window.after` to `window.upTo`. The session holds two temporary tables:
   * `change`, the facts that began (+1) or ceased (-1) to count in the window, and
   * `dropped`, the blocks that do not count at its end. `kinds` are those of the facts in
   * `change`, where somebody has looked already.
   */
  readonly apply: (
    session: Session,
    schema: string,
    window: Window,
    kinds?: ReadonlySet<number>,
  ) => Promise<void>;
  /**
   * Steps that fill empty tables without indexes from all of the log up to `window.upTo`; there `change` is a view of
   * it that is read once where possible. Without them `apply` does the same, on tables with their indexes.
   */
  readonly deriveAll?: readonly Step[];
};
