import type pg from "pg";

type Send = (query: pg.QueryConfig) => Promise<pg.QueryResult | pg.QueryResult[]>;

/** What ends a statement, or a transaction that waits for its next one. Milliseconds; 0 is no limit. */
type Limits = { readonly statementTimeoutMs: number; readonly idleInTransactionTimeoutMs: number };

/**
 * Sends statements through a pooler, which takes no settings of a connection and keeps none from one transaction to the
 * next (PgBouncer: `pool_mode = transaction`): each transaction sets its limits as it begins, and a statement outside of
 * one gets a transaction of its own.
 */
export function sendPooled(send: Send, limits: Limits): Send {
  const settings = settingsOf(limits);
  let isInTransaction = false;
  const begin = async (query: pg.QueryConfig) => {
    const result = await send({ ...query, text: query.text.replace(beginning, `$&; ${settings}`) });
    isInTransaction = true;
    return result;
  };
  return async (query) => {
    if (beginning.test(query.text)) return await begin(query);
    if (ending.test(query.text)) isInTransaction = false;
    else if (!isInTransaction) return await inTransaction(send, settings, query);
    return await send(query);
  };
}

const beginning = /^\s*(begin|start transaction)\b[^;]*/i;
const ending = /^\s*(commit|rollback)\b/i;

function settingsOf({ statementTimeoutMs, idleInTransactionTimeoutMs }: Limits): string {
  return (
    `set local statement_timeout = ${statementTimeoutMs}; ` +
    `set local idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs}`
  );
}

async function inTransaction(send: Send, settings: string, query: pg.QueryConfig) {
  await send({ text: `begin; ${settings}` });
  try {
    const result = await send(query);
    await send({ text: "commit" });
    return result;
  } catch (error) {
    await send({ text: "rollback" }).catch(() => undefined);
    throw error;
  }
}
