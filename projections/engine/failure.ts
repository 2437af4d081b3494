import type { Window } from "./projection.ts";

/** A projection cannot take a window in, however often it is tried. */
export class DerivationFailed extends Error {
  readonly projection: string;
  readonly window: Window;

  constructor(projection: string, window: Window, cause: Error) {
    super(`${projection} cannot take in ${window.after + 1n}–${window.upTo}: ${cause.message}`, {
      cause,
    });
    this.projection = projection;
    this.window = window;
  }
}

/**
 * Classes of SQLSTATE that tell of the values at hand: cardinality, data, constraints, a program's limits. What tells of
 * the server, the connection or other transactions goes by itself.
 */
const lasting = new Set(["21", "22", "23", "54"]);

export function isLasting(error: unknown): error is Error {
  // What the program itself says of values that it cannot read.
  if (error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError)
    return true;
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && code.length === 5 && lasting.has(code.slice(0, 2));
}

/**
 * Another transaction was faster, or two waited for each other: nothing was written, and the next try finds what the
 * other left.
 */
export function isConflict(error: unknown): boolean {
  return error instanceof Error && "code" in error && conflicts.has(error.code);
}

const conflicts: ReadonlySet<unknown> = new Set(["40001", "40P01"]);
