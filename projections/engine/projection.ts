import type { RawBuilder } from "kysely";
import type { Session } from "../log/database.ts";
import type { FactKind } from "../log/fact-kinds.ts";

/** Facts with after < position ≤ upTo. */
export type Window = { readonly after: bigint; readonly upTo: bigint };

/** A table or view that statements read from. */
export type Relation = RawBuilder<unknown>;

/** Which facts are effective: those of `facts` up to `upTo` whose blocks are not among `retractedBlocks`. */
export type EffectiveFacts = {
  readonly upTo: bigint;
  /** All facts of the log, without those that are excluded from the projection; columns of `log.fact`. */
  readonly facts: Relation;
  /** Blocks that are retracted at `upTo`: `block_id`. */
  readonly retractedBlocks: Relation;
  /** SQL: what time it is, unix seconds; absent: that of the latest clock tick. */
  readonly clock?: RawBuilder<bigint>;
};

/** What a projection reads while a window is applied to its tables. */
export type FactWindow = Window &
  EffectiveFacts & {
    /**
     * Facts that became effective (`weight` +1) or are no longer effective (`weight` -1) between the window's two ends,
     * with the columns of `log.fact`. While tables are derived in bulk: all effective facts, in a view to read once.
     */
    readonly changes: Relation;
    /** Kinds of the facts in `changes`, where they were read already. */
    readonly kinds?: ReadonlySet<number>;
    /**
     * By the schema of a projection's tables, the keys of rows that it changed in this window, for projections that
     * follow; none where its tables came to the window's end in another transaction.
     */
    readonly changedKeys: Map<string, Relation>;
  };
export type WindowWithKinds = FactWindow & Required<Pick<FactWindow, "kinds">>;

/** Rows of `tables` with a key are derived from exactly the facts with that key that match `where`. */
export type Sample = {
  /** Columns of `log.fact` and of each table. */
  readonly key: readonly string[];
  readonly where: RawBuilder<unknown>;
  readonly tables: readonly string[];
};

/** Parts of a step that are done, and how many it has. */
export type Parts = { readonly done: number; readonly of: number };

/**
 * A step of a derivation in bulk, committed before the next one starts. Only the first may read tables of other
 * projections: these keep moving, and the position of all steps is that of its snapshot.
 */
export type Step = {
  /** Identifies the step in the stored progress. */
  readonly name: string;
  /** Derives from part `part` on, to the end of the step or, returning the parts done, to where it may be committed. */
  readonly derive: (
    session: Session,
    schema: string,
    window: FactWindow,
    part: number,
  ) => Promise<Parts> | Promise<void>;
};

/**
 * State derived from the log: equal logs give equal rows, however often and in whatever windows it ran.
 * `apply` reads no clock, network, environment or randomness.
 */
export type Projection = {
  /** Name of the checkpoint and of the schema: a projection under another name starts empty. */
  readonly name: string;
  /** Raised when derived rows would differ; the projection is then rebuilt. */
  readonly version: number;
  /** What the rows depend on besides the log, such as configuration: rebuilt when it differs. */
  readonly parameters?: string;
  /** Projections whose tables it reads, by their own names. */
  readonly reads?: readonly string[];
  /** Kinds of facts that `apply` handles: a window without them only moves the checkpoint. Absent: all. */
  readonly handles?: readonly FactKind[];
  /** How some of its keys are verified without the rest; absent: it is verified completely or not at all. */
  readonly sample?: Sample;
  /** Statements that create its empty tables in `schema`. */
  readonly tables: (schema: string) => readonly string[];
  /** Brings the tables of `schema` from `window.after` to `window.upTo`. */
  readonly apply: (session: Session, schema: string, window: FactWindow) => Promise<void>;
  /**
   * Steps that fill empty tables without indexes from all of the log up to `window.upTo`. Without them `apply` does the
   * same, on tables with their indexes.
   */
  readonly deriveAll?: readonly Step[];
  /** Its steps look rows up in tables filled before, which are small: they keep their indexes. */
  readonly keepsIndexes?: true;
  /** What is reported of its tables and of others'. */
  readonly output?: Output;
};

/**
 * Appends what changed in the serving tables of some projections, in the transaction of a tick that brought the last of them
 * to `window.upTo`. Depends on the windows, unlike the tables: a rebuild does not repeat it. Where its own record is not at
 * `window.after`, or of other tables, it compares them completely.
 */
export type Output = {
  readonly of: readonly string[];
  readonly write: (session: Session, window: Window) => Promise<void>;
};

/** A projection failed on a window for a permanent reason: trying again would not help. */
export class DerivationFailed extends Error {
  readonly projection: string;
  readonly window: Window;

  constructor(projection: string, window: Window, cause: Error) {
    const { after, upTo } = window;
    super(`projection ${projection} failed on facts ${after + 1n} to ${upTo}: ${cause.message}`, {
      cause,
    });
    this.projection = projection;
    this.window = { after, upTo };
  }
}

/**
 * SQLSTATE classes of errors caused by the values: cardinality, data, constraints, program limits. Errors of the server,
 * the connection or other transactions are temporary.
 */
const permanent = new Set(["21", "22", "23", "54"]);

export function isPermanentError(error: unknown): error is Error {
  // Thrown by the program on values that it cannot read.
  if (error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError)
    return true;
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && code.length === 5 && permanent.has(code.slice(0, 2));
}
