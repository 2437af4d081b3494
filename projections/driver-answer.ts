import type pg from "pg";
import { ServerSilent } from "./database-failure.ts";

type Answer = pg.QueryResult | pg.QueryResult[];

/**
 * Sends a statement and waits for its answer, at most `answerMs` (0: without limit; then `ServerSilent`, and the
 * connection is of no more use). The driver's promises and its `query_timeout` are avoided: both keep each answer with
 * all of its rows until a full garbage collection, so that a scavenge of a busy reader copies them time and again.
 */
export function sendToDriver(
  client: pg.ClientBase,
  query: pg.QueryConfig,
  answerMs: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = answerMs > 0 ? setTimeout(() => reject(new ServerSilent()), answerMs) : undefined;
    const answered = (error: Error | null, answer: Answer): void => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(answer);
    };
    void client.query(query, answered);
  });
}
