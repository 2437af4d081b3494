import type { Window } from "./projection.ts";

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
