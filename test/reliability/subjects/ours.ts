import { join } from "node:path";
import { sql } from "kysely";
import { accounts } from "#devnet/accounts.ts";
import { findFreePort } from "#ops/free-port.ts";
import { launch } from "#ops/programs.ts";
import { type Database, openDatabase } from "#projections/log/database.ts";
import { kindLiteral } from "#projections/log/fact-kinds.ts";
import { collection } from "../chain/contents.ts";
import { emptyRecord, placeLine, type StoredRecord, saleLine } from "./record.ts";
import { runSubject } from "./run-subject.ts";
import type { StoredProgress, Subject, SubjectSettings } from "./subject.ts";

/** Our service, as an operator starts it, with the roles that index and derive. */
export const ours: Subject = {
  name: "ours",
  async start(settings) {
    const { roles } = settings;
    const port = await findFreePort();
    return runSubject({
      ...settings,
      args: launch("service", "--only", ["indexer", "projector", ...roles].join()),
      environment: environmentOf(settings, port),
      baseUrl: `http://127.0.0.1:${port}`,
    });
  },
  read: (databaseUrl, chainId) =>
    inDatabase(databaseUrl, (db) => readRecord(db, chainId), emptyRecord),
  readProgress: (databaseUrl, chainId) =>
    inDatabase(databaseUrl, (db) => readProgress(db, chainId), { rows: 0, ownersAt: 0 }),
  readDescription: (databaseUrl) => inDatabase(databaseUrl, readDescription, undefined),
};

function environmentOf(settings: SubjectSettings, port: number): Record<string, string> {
  const { chain, nodes, hasSocket, databaseUrl, directory } = settings;
  const [first] = nodes;
  return {
    ...{ DATABASE_URL: databaseUrl, DATA_DIR: join(directory, "data"), PORT: `${port}` },
    [`RPC_URL_${chain.chainId}`]: nodes.map(({ url }) => url).join(),
    ...(hasSocket && first !== undefined && { [`WS_URL_${chain.chainId}`]: first.wsUrl }),
    [`START_BLOCK_${chain.chainId}`]: `${chain.firstBlock + 1}`,
    [`COLLECTIONS_${chain.chainId}`]: "*",
    CURATED_FILE: join(import.meta.dirname, "../../support/database/no-collections.json"),
    ...{ FEE_RECIPIENT: accounts.feeRecipient, PRICE_FEED_URLS: "none", OPERATOR_CONSOLE: "off" },
    ...{ RATE_LIMIT_KEYLESS: "0", LOG_FORMAT: "json" },
  };
}

/** Tables that are not there hold nothing. */
async function inDatabase<Value>(
  url: string,
  read: (db: Database) => Promise<Value>,
  absent: Value,
): Promise<Value> {
  const db = openDatabase({ url, applicationName: "reliability", max: 1, onIdleError: () => {} });
  try {
    return await read(db);
  } catch (error) {
    if (isUndefined(error)) return absent;
    throw error;
  } finally {
    await db.destroy();
  }
}

/** undefined_table, invalid_schema_name, undefined_function. */
const isUndefined = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  ["42P01", "3F000", "42883"].includes(String(error.code));

const retracted = sql`select block_id from log.retracted_blocks((select position from log.head))`;

/** At one moment: all parts in one snapshot. */
function readRecord(db: Database, chainId: number): Promise<StoredRecord> {
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .execute(async (session) => {
      const { rows: events } = await sql<EventRow>`
        select f.kind, b.number::integer as number, '0x' || encode(b.hash, 'hex') as hash, f.log_index::text as "logIndex",
               f.token_id::text as "tokenId", '0x' || encode(f.from_address, 'hex') as from,
               '0x' || encode(f.to_address, 'hex') as to
        from log.fact f join log.block b using (block_id)
        where b.chain_id = ${chainId} and f.log_index is not null and f.block_id not in (${retracted})
          and f.kind in (${kindLiteral("erc721_transfer")}, ${kindLiteral("counter_incremented")})
        order by b.number, f.log_index`.execute(session);
      const { rows: owners } = await sql<{ tokenId: string; owner: string }>`
        select token_id::text as "tokenId", '0x' || encode(owner, 'hex') as owner from ownership.token
        where owner is not null`.execute(session);
      const { rows: holders } = await sql<{ owner: string; tokens: number }>`
        select '0x' || encode(owner, 'hex') as owner, tokens::integer as tokens from ownership.holder`.execute(
        session,
      );
      const { rows: sales } = await sql<Parameters<typeof saleLine>[0]>`
        select '0x' || encode(block_hash, 'hex') as hash, token_id::text as "tokenId", price_wei::text as price,
               '0x' || encode(seller, 'hex') as from, '0x' || encode(buyer, 'hex') as to
        from sales.sale where chain_id = ${chainId}`.execute(session);
      return {
        ...eventLines(events),
        sales: sales.map(saleLine),
        owners: new Map(owners.map(({ tokenId, owner }) => [tokenId, owner])),
        holders: new Map(holders.map(({ owner, tokens }) => [owner, tokens])),
      };
    });
}

type EventRow = {
  kind: number;
  number: number;
  hash: string;
  logIndex: string;
  tokenId: string | null;
  from: string;
  to: string;
};

const eventLines = (events: readonly EventRow[]) => ({
  transfers: events
    .filter(({ tokenId }) => tokenId !== null)
    .map((one) => `${placeLine(one)} ${one.tokenId} ${one.from} ${one.to}`),
  counters: events.filter(({ tokenId }) => tokenId === null).map(placeLine),
});

async function readProgress(db: Database, chainId: number): Promise<StoredProgress> {
  const { rows } = await sql<StoredProgress>`
    select (select count(*)::integer from log.fact f join log.block b using (block_id)
            where b.chain_id = ${chainId} and f.kind = ${kindLiteral("erc721_transfer")}
              and f.block_id not in (${retracted})) as rows,
           (select coalesce(max(b.number), 0)::integer from ownership.token t join log.block b using (block_id)) as "ownersAt"
  `.execute(db);
  return rows[0] ?? { rows: 0, ownersAt: 0 };
}

async function readDescription(db: Database) {
  const { rows } = await sql<{ name: string | null; symbol: string | null }>`
    select f.payload ->> 'name' as name, f.payload ->> 'symbol' as symbol
    from log.fact f join log.contract c using (contract_id)
    where f.kind = ${kindLiteral("contract_described")} and c.address = decode(${collection.slice(2)}, 'hex')
    order by f.position desc limit 1`.execute(db);
  return rows[0];
}
