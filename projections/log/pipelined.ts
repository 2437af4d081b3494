import type { DatabaseConnection, QueryResult } from "kysely";
import { type Database, pipelines, type Session } from "./database.ts";

/** Connections of the sessions that pipeline. */
const connections = new WeakMap<Session, DatabaseConnection>();

/**
 * A transaction of `db` for callers at the same time: each waits for its own answers, and the server gets the statements
 * of all in the order in which they were made. Kysely would hold each back until the one before is answered, which it
 * does where the connections of `db` do not pipeline.
 */
export async function pipelined(db: Database, session: Session): Promise<Session> {
  if (!pipelines(db)) return session;
  const connection = await session.getExecutor().provideConnection(async (own) => own);
  const through = sendingThrough(session, connection);
  connections.set(through, connection);
  return through;
}

/**
 * Does `work` without waiting for answers, where the session pipelines: a statement is sent after the one before, and the
 * server carries them out in that order. For work that uses no answer; to read one is an error. Throws the first failure.
 */
export async function sendAhead(
  session: Session,
  work: (ahead: Session) => Promise<void>,
): Promise<void> {
  const connection = connections.get(session);
  if (connection === undefined) return await work(session);
  const answers: Promise<unknown>[] = [];
  const ahead = sendingThrough(session, {
    executeQuery(query) {
      const answer = connection.executeQuery(query);
      // Those after the first that failed fail with the transaction.
      answer.catch(() => {});
      answers.push(answer);
      return Promise.resolve(unread);
    },
    streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
  });
  await work(ahead);
  await Promise.all(answers);
}

const unread = {
  get rows() {
    return refuseResult();
  },
  get numAffectedRows() {
    return refuseResult();
  },
} satisfies QueryResult<never>;

function refuseResult(): never {
  throw new Error("a statement of sendAhead returns no result: its answer is not waited for");
}

/** The session's statements on another connection. */
function sendingThrough(session: Session, connection: DatabaseConnection): Session {
  const executor = session
    .getExecutor()
    .withConnectionProvider({ provideConnection: (use) => use(connection) });
  return { getExecutor: () => executor };
}
