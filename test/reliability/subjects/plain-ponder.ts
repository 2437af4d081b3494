import { join } from "node:path";
import pg from "pg";
import { findFreePort } from "#ops/free-port.ts";
import { ponderDirectory } from "#ops/programs.ts";
import { emptyRecord, placeLine, type StoredRecord, saleLine } from "./record.ts";
import { runSubject } from "./run-subject.ts";
import type { StoredProgress, Subject } from "./subject.ts";

const app = join(import.meta.dirname, "../plain-ponder");
const schema = "plain_ponder";

/** Ponder as published, with handlers that only store (`../plain-ponder`). */
export const plainPonder: Subject = {
  name: "ponder",
  async start(settings) {
    const { chain, nodes, hasSocket, databaseUrl } = settings;
    const port = await findFreePort();
    const [first] = nodes;
    const command = join(ponderDirectory, "dist/esm/bin/ponder.js");
    return runSubject({
      ...settings,
      args: [command, "start", "--root", app, "--schema", schema, "--port", `${port}`],
      environment: {
        ...{ DATABASE_URL: databaseUrl, PONDER_TELEMETRY_DISABLED: "1" },
        RELIABILITY_CHAIN_ID: `${chain.chainId}`,
        RELIABILITY_START_BLOCK: `${chain.firstBlock + 1}`,
        RELIABILITY_RPC_URLS: nodes.map(({ url }) => url).join(),
        ...(hasSocket && first !== undefined && { RELIABILITY_WS_URL: first.wsUrl }),
      },
      baseUrl: `http://127.0.0.1:${port}`,
    });
  },
  read: (databaseUrl) => inDatabase(databaseUrl, readRecord, emptyRecord),
  readProgress: (databaseUrl) => inDatabase(databaseUrl, readProgress, { rows: 0, ownersAt: 0 }),
  readDescription: (databaseUrl) =>
    inDatabase(
      databaseUrl,
      async (client) =>
        (await client.query(`select name, symbol from ${schema}.collection limit 1`)).rows[0],
      undefined,
    ),
};

/** Tables that are not there hold nothing. */
async function inDatabase<Value>(
  connectionString: string,
  read: (client: pg.Client) => Promise<Value>,
  absent: Value,
): Promise<Value> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {});
  await client.connect();
  try {
    return await read(client);
  } catch (error) {
    if (error instanceof pg.DatabaseError && ["42P01", "3F000"].includes(error.code ?? ""))
      return absent;
    throw error;
  } finally {
    await client.end();
  }
}

async function readRecord(client: pg.Client): Promise<StoredRecord> {
  await client.query("begin isolation level repeatable read");
  const rowsOf = async (text: string) => (await client.query(text)).rows;
  const place = 'number, hash, log_index as "logIndex"';
  const transfers = await rowsOf(
    `select ${place}, token_id as "tokenId", "from", "to" from ${schema}.transfer order by number, log_index`,
  );
  const counters = await rowsOf(
    `select ${place} from ${schema}.counter order by number, log_index`,
  );
  const sales = await rowsOf(
    `select hash, token_id as "tokenId", price, seller as "from", buyer as "to" from ${schema}.sale`,
  );
  const owners = await rowsOf(`select token_id as "tokenId", owner from ${schema}.token`);
  const holders = await rowsOf(
    `select owner, count(*)::integer as tokens from ${schema}.token group by owner`,
  );
  const lower = (text: string) => text.toLowerCase();
  return {
    transfers: transfers.map((one) =>
      lower(`${placeLine(one)} ${one.tokenId} ${one.from} ${one.to}`),
    ),
    counters: counters.map(placeLine),
    sales: sales.map((one) => lower(saleLine(one))),
    owners: new Map(owners.map(({ tokenId, owner }) => [tokenId, lower(owner)])),
    holders: new Map(holders.map(({ owner, tokens }) => [lower(owner), tokens])),
  };
}

async function readProgress(client: pg.Client): Promise<StoredProgress> {
  const { rows } = await client.query(
    `select (select count(*)::integer from ${schema}.transfer) as rows,
            (select coalesce(max(number), 0)::integer from ${schema}.token) as "ownersAt"`,
  );
  return rows[0];
}
