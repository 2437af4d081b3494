import type { LogFn } from "pino";
import { DatabaseUnavailable, statementFailure } from "#projections/log/database-failure.ts";

/** An outage without a new failure for so long is over. */
const overMs = 30_000;
const firstQuietMs = 10_000;
const mostQuietMs = 300_000;

/**
 * Hook of a logger. A database that cannot be used fails everything that is under way: the first failure is one
 * line with its reason instead of a stack, and while the outage lasts further lines come ever more seldom, each with the
 * number of failures that were left out.
 */
export function openOutageLines(clock = () => performance.now()) {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let quietMs = firstQuietMs;
  let omitted = 0;
  return function logMethod(this: unknown, args: Parameters<LogFn>, method: LogFn): void {
    const [fields, ...rest] = args as unknown[];
    const reason = outageIn(fields);
    if (reason === undefined) {
      method.apply(this as never, args);
      return;
    }
    const now = clock();
    const isNew = now - failedAt > overMs;
    failedAt = now;
    if (!isNew && now - writtenAt < quietMs) {
      omitted += 1;
      return;
    }
    quietMs = isNew ? firstQuietMs : Math.min(2 * quietMs, mostQuietMs);
    const others = isNew || omitted === 0 ? {} : { failures: omitted };
    [writtenAt, omitted] = [now, 0];
    const { err: _, ...about } = fields as { err: unknown };
    method.apply(this as never, [{ ...about, reason, ...others }, ...rest] as never);
  };
}

/** Why the database cannot be used, where that is what a line tells. */
function outageIn(fields: unknown): string | undefined {
  if (typeof fields !== "object" || fields === null || !("err" in fields)) return undefined;
  const { err } = fields;
  // Other things than statements fail by the system's codes, too.
  const isOfSystem = err instanceof Error && "syscall" in err;
  const failure = isOfSystem ? err : statementFailure(err);
  return failure instanceof DatabaseUnavailable ? failure.message : undefined;
}
