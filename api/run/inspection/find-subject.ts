import type { Hex } from "viem";
import { chainIds } from "#chains/index.ts";
import type { Database } from "#projections/log/database.ts";
import type { About } from "#projections/log/facts.ts";
import { findCollection } from "#projections/collections/find-collection.ts";
import { findOrders } from "#projections/orders/read-orders.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import { findSales } from "#projections/sales/read-sale.ts";

/** Rows, and what selects the facts that they were derived from. */
export type Subject = { projection: string; rows: unknown[]; about: About };

type Refuse = (message: string) => never;
type Find = (db: Database, id: string, refuse: Refuse) => Promise<Subject | null>;

/** Finders by the name used on the command line. */
export const finders: Record<string, Find> = {
  listing: (db, id, refuse) => findOrder(db, "listing", id, refuse),
  bid: (db, id, refuse) => findOrder(db, "bid", id, refuse),
  sale: findSale,
  token: findToken,
  collection: findListed,
};

async function findOrder(
  db: Database,
  what: "listing" | "bid",
  id: string,
  refuse: Refuse,
): Promise<Subject | null> {
  const [, orderHash] = /(?:^|-)(0x[0-9a-f]{64})$/i.exec(id) ?? [];
  if (orderHash === undefined) return refuse(`expected the id or the order hash of the ${what}`);
  const found = await findOrders(db, what, orderHash.toLowerCase() as Hex);
  const [first] = found;
  if (first === undefined) return null;
  return {
    projection: `${what}s`,
    rows: found.map(({ row }) => row),
    about: { order: first.subject },
  };
}

async function findSale(db: Database, id: string, refuse: Refuse): Promise<Subject | null> {
  if (!/^0x[0-9a-f]{64}$/i.test(id)) refuse("expected a saleId: 0x and 64 hex digits");
  const found = await findSales(db, id.toLowerCase() as Hex);
  if (found.length === 0) return null;
  return { projection: "sales", rows: found.map(({ row }) => row), about: { transactions: found } };
}

async function findToken(db: Database, id: string, refuse: Refuse): Promise<Subject | null> {
  const [, chain, contract, token] = /^(\d+):(0x[0-9a-f]{40}):(\d{1,78})$/i.exec(id) ?? [];
  if (chain === undefined || contract === undefined || token === undefined) {
    return refuse("expected chain:contract:id, for example 1:0xbc4c…f13d:7");
  }
  const found = await findCollection(db, Number(chain), contract);
  const contractId = found?.contractId ?? null;
  if (contractId === null) return null;
  const row = await readToken(db, [contractId], BigInt(token));
  return {
    projection: "ownership",
    rows: row === null ? [] : [row],
    about: { token: { contractId, tokenId: BigInt(token) } },
  };
}

async function findListed(db: Database, id: string, refuse: Refuse): Promise<Subject | null> {
  const [, chain, key] = /^(\d+):([\w.-]{1,200})$/.exec(id) ?? [];
  if (key === undefined || !chainIds.some((one) => `${one}` === chain)) {
    return refuse(`expected chain:slug or chain:address; chains: ${chainIds.join(", ")}`);
  }
  const found = await findCollection(db, Number(chain), key);
  if (found === null) return null;
  return { projection: "collections", rows: [found], about: { collection: found.contractIds } };
}
