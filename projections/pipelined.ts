import type { DatabaseConnection } from "kysely";
import { type Database, pipelines, type Session } from "./database.ts";

/**
 * A transaction of `db` for callers at the same time: each waits for its own answers, and the server gets the statements
 * of all in the order in which they were made. Kysely would hold each back until the one before is answered, which it
 * does where the connections of `db` do not pipeline.
 */
export async function pipelined(db: Database, session: Session): Promise<Session> {
  if (!pipelines(db)) return session;
  const executor = session.getExecutor();
  const connection = await executor.provideConnection(async (own: DatabaseConnection) => own);
  const pipelining = executor.withConnectionProvider({
    provideConnection: (use) => use(connection),
  });
  return new Proxy(session, {
    get(own, name) {
      if (name === "getExecutor") return () => pipelining;
      const value: unknown = Reflect.get(own, name, own);
      return typeof value === "function" ? value.bind(own) : value;
    },
  });
}
