import pg from "pg";
import { emptyRecord, placeLine, type StoredRecord, saleLine } from "./record.ts";
import type { StoredProgress, Subject } from "./subject.ts";

/** How an indexer names the tables and columns that its handlers store in. */
export type TableLayout = {
  table(name: "transfer" | "counter" | "sale" | "token"): string;
  readonly logIndex: string;
  readonly tokenId: string;
  /** Of the table of tokens. */
  readonly tokenKey: string;
};

/** Reads what handlers that only store have stored. */
export const readsOf = (layout: TableLayout): Pick<Subject, "read" | "readProgress"> => ({
  read: (databaseUrl) =>
    inDatabase(databaseUrl, (client) => readRecord(client, layout), emptyRecord),
  readProgress: (databaseUrl) =>
    inDatabase(databaseUrl, (client) => readProgress(client, layout), { rows: 0, ownersAt: 0 }),
});

/** Tables that are not there hold nothing. */
export async function inDatabase<Value>(
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

async function readRecord(
  client: pg.Client,
  { table, logIndex, tokenId, tokenKey }: TableLayout,
): Promise<StoredRecord> {
  await client.query("begin isolation level repeatable read");
  const rowsOf = async (text: string) => (await client.query(text)).rows;
  const place = `number, hash, ${logIndex} as "logIndex"`;
  const transfers = await rowsOf(
    `select ${place}, ${tokenId} as "tokenId", "from", "to" from ${table("transfer")} order by number, ${logIndex}`,
  );
  const counters = await rowsOf(
    `select ${place} from ${table("counter")} order by number, ${logIndex}`,
  );
  const sales = await rowsOf(
    `select hash, ${tokenId} as "tokenId", price, seller as "from", buyer as "to" from ${table("sale")}`,
  );
  const owners = await rowsOf(`select ${tokenKey} as "tokenId", owner from ${table("token")}`);
  const holders = await rowsOf(
    `select owner, count(*)::integer as tokens from ${table("token")} group by owner`,
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

async function readProgress(client: pg.Client, { table }: TableLayout): Promise<StoredProgress> {
  const { rows } = await client.query(
    `select (select count(*)::integer from ${table("transfer")}) as rows,
            (select coalesce(max(number), 0)::integer from ${table("token")}) as "ownersAt"`,
  );
  return rows[0];
}
