import type { Hex } from "viem";
import { chainById, chainIds } from "#chains/index.ts";
import { findCollection } from "#projections/collections/find-collection.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { readCheckpoints } from "#projections/engine/checkpoint.ts";
import { resolvePoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import { type About, type PlacedFact, readFactsBehind } from "#projections/log/facts.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { findOrders } from "#projections/orders/read-orders.ts";
import { findSales } from "#projections/sales/read-sale.ts";
import { readPastTokens } from "#projections/tokens/read-past-token.ts";
import { readToken } from "#projections/tokens/read-token.ts";
import type { InspectedConfig } from "./inspected-config.ts";
import { presentFact } from "./present-fact.ts";

type Explained = { what: string; id: string; subject: Subject; most: number };

/** The facts that a row was derived from, in chain order: what `op explain` prints. */
export async function explainRow(
  db: Database,
  config: InspectedConfig,
  { what, id, subject, most }: Explained,
) {
  const position = (await readCheckpoints(db)).get(schemaOf(subject.projection))?.position ?? 0n;
  const { total, facts } = await readFactsBehind(db, subject.about, { position, most });
  const explained = facts.map((fact) => ({ fact, links: linksFor(config, fact) }));
  const content = {
    what,
    id,
    position: Number(position),
    rows: subject.rows,
    total: Number(total),
    facts: explained.map(({ fact, links }) => ({ ...presentFact(fact), links })),
  };
  return { content, facts: explained };
}

export type FactLinks = ReturnType<typeof linksOf>;

export function linksFor(config: InspectedConfig, { chainId, block, transactionHash }: PlacedFact) {
  if (chainId === null || block === null) return null;
  return linksOf(config, { chainId, block: block.number, transaction: transactionHash });
}

/** Whether a fact is effective, in words. */
export function verdictOf({ counts, droppedAt }: PlacedFact): string {
  if (counts) return "effective";
  return droppedAt === null ? "not read yet" : `retracted by ${droppedAt}`;
}

/** Rows, and what selects the facts that they were derived from. */
type Subject = { projection: string; rows: unknown[]; about: About };

type Refuse = (message: string) => never;
type Find = (db: Database, id: string, refuse: Refuse) => Promise<Subject | null>;

/** Finders by the name used on the command line. */
export const finders: Record<string, Find> = {
  listing: (db, id, refuse) => findOrder(db, "listing", id, refuse),
  bid: (db, id, refuse) => findOrder(db, "bid", id, refuse),
  sale: findSale,
  token: (db, id, refuse) => findTokenAt(db, id, null, refuse),
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

/** A token as it was at the end of a block of its chain, by facts up to it; null: now. */
export async function findTokenAt(
  db: Database,
  id: string,
  block: bigint | null,
  refuse: Refuse,
): Promise<Subject | null> {
  const [, chain, contract, token] = /^(\d+):(0x[0-9a-f]{40}):(\d{1,78})$/i.exec(id) ?? [];
  if (chain === undefined || contract === undefined || token === undefined) {
    return refuse("expected chain:contract:id, for example 1:0xbc4c…f13d:7");
  }
  const found = await findCollection(db, Number(chain), contract);
  const contractId = found?.contractId ?? null;
  if (contractId === null) return null;
  const place = { contractId, tokenId: BigInt(token) };
  if (block === null) {
    const row = await readToken(db, [contractId], place.tokenId);
    return { projection: "ownership", rows: row === null ? [] : [row], about: { token: place } };
  }
  const point = await resolvePoint(db, Number(chain), { block });
  if (isRejection(point)) return refuse(point.message);
  const rows = await readPastTokens(db, [place], point);
  const { endId } = point;
  return { projection: "ownership", rows, about: { token: { ...place, endId } } };
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

/** Links to a block explorer; null for local chains. */
export function linksOf(
  { localChains, chains }: InspectedConfig,
  { chainId, block, transaction }: { chainId: number; block: bigint; transaction: Hex | null },
): { block: string; transaction: string | null } | null {
  const chain = chains.find((one) => one.chainId === chainId);
  const isLocal = chain?.rpcUrls.some((url) => /^https?:\/\/(localhost|127\.|\[::1\])/.test(url));
  if (localChains || isLocal || chain === undefined) return null;
  const { explorer } = chainById(chain.chainId);
  return {
    block: `${explorer}/block/${block}`,
    transaction: transaction === null ? null : `${explorer}/tx/${transaction}`,
  };
}
