import { pino } from "pino";
import type { Address } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import { addressOf } from "../database/given.ts";
import { createDatabase } from "../database/postgres.ts";
import { serve } from "../http/openapi.ts";
import { makers, nfts, openedAt, pauper, type SeededOrder, seedOrders } from "./seeded-orders.ts";
import { openTestMarket } from "./test-market.ts";

export const siteUrl = "https://site.example.test";

const List = z.object({
  data: z.array(z.looseObject({ orderHash: z.string() })),
  meta: z.looseObject({
    total: z.number(),
    page: z.number().nullable(),
    next_cursor: z.string().nullable(),
  }),
});

export type OrderReadsFixture = Awaited<ReturnType<typeof openOrderReads>>;

/** The API over seeded orders, at a time that `at` sets. */
export async function openOrderReads() {
  const database = await createDatabase({ template: "projected" });
  const { catchUp } = await seedOrders(database.db);
  let now = openedAt;
  const context = {
    db: database.db,
    siteUrl,
    chains: [1, 33139] as const,
    readStatus: () => Promise.reject(new Error("the status is not used in this test")),
    market: openTestMarket(database.db),
    now: () => new Date(Number(now) * 1000),
  };
  const baseUrl = "https://api.example.test";
  const api = await serve(createApp({ context, baseUrl, logger: pino({ level: "silent" }) }));

  async function answer(path: string): Promise<unknown> {
    const { status, body } = await api.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  }
  const list = async (path: string) => List.parse(await answer(path));

  return {
    db: database.db,
    catchUp,
    at(unixSeconds: bigint) {
      now = unixSeconds;
    },
    answer,
    raw: api.get,
    post: api.post,
    list,
    async one(path: string) {
      return z.object({ data: z.looseObject({}) }).parse(await answer(path)).data;
    },
    async expectRejection(path: string, status: number, code: string) {
      const answer = await api.get(path);
      const failure = z.looseObject({ code: z.string() }).parse(answer.body);
      expect([answer.status, failure.code], path).toEqual([status, code]);
    },
    /** All rows of a list, by following cursors from the first page. */
    async readAllByCursor(path: string) {
      const rows: unknown[] = [];
      for (let next = await list(path); ; ) {
        rows.push(...next.data);
        expect(rows.length).toBeLessThanOrEqual(next.meta.total);
        if (next.meta.next_cursor === null) return { rows, total: next.meta.total };
        next = await list(`${path}&cursor=${next.meta.next_cursor}`);
        expect(next.meta.page).toBeNull();
      }
    },
    async readAllByPage(path: string) {
      const rows: unknown[] = [];
      for (let page = 1; ; page += 1) {
        const { data } = await list(`${path}&page=${page}`);
        if (data.length === 0) return rows;
        rows.push(...data);
      }
    },
    async close() {
      await api.close();
      await database.drop();
    },
  };
}

export function hashOf(row: unknown): string {
  return z.looseObject({ orderHash: z.string() }).parse(row).orderHash;
}
export function idOf({ order, marketplace }: SeededOrder): string {
  const prefixes = { native: "mkt-", opensea: "", magiceden: "magiceden-" };
  return `${prefixes[marketplace]}${order.orderHash}`;
}

export type OrderPredicate = (order: SeededOrder) => boolean;

export const sorts: Record<string, (order: SeededOrder) => bigint> = {
  price_asc: ({ priceWei }) => priceWei,
  price_desc: ({ priceWei }) => priceWei,
  created_at: ({ createdAt }) => createdAt,
};

/** Sorts that only bids have. */
export const bidSorts: Record<string, (order: SeededOrder) => bigint> = {
  seller_net_asc: ({ order }) => order.terms.sellerNetWei,
  seller_net_desc: ({ order }) => order.terms.sellerNetWei,
};

/** Sorted hashes of the orders that match and have not ended at `now`; ties are in order of creation. */
export function expected(
  from: readonly SeededOrder[],
  matches: OrderPredicate,
  sort: string,
  now: bigint,
): string[] {
  return sortedHashes(from, (order) => matches(order) && order.endsAt > now, sort);
}

/** Sorted hashes of the orders that match; ties are in order of creation. */
export function sortedHashes(
  from: readonly SeededOrder[],
  matches: OrderPredicate,
  sort: string,
): string[] {
  const value = sorts[sort] ?? bidSorts[sort] ?? (() => 0n);
  const ascending = from
    .map((order, index) => ({ order, index }))
    .filter(({ order }) => matches(order))
    .sort((a, b) => Number(value(a.order) - value(b.order)) || a.index - b.index)
    .map(({ order }) => order.order.orderHash);
  return sort.endsWith("_asc") ? ascending : ascending.reverse();
}

export const none: OrderPredicate = () => false;
export const active: OrderPredicate = ({ status }) => status === "active";
export const inactive: OrderPredicate = ({ status }) => status === "inactive";
export const on =
  (...contracts: Address[]): OrderPredicate =>
  ({ contract }) =>
    contract.chainId === 1 && contracts.includes(contract.address);
export const every =
  (...all: OrderPredicate[]): OrderPredicate =>
  (order) =>
    all.every((keep) => keep(order));
export const ofChain =
  (chainId: number): OrderPredicate =>
  ({ contract }) =>
    contract.chainId === chainId;
export const of =
  (marketplace: SeededOrder["marketplace"]): OrderPredicate =>
  (order) =>
    order.marketplace === marketplace;
export const ofToken =
  (tokenId: bigint): OrderPredicate =>
  (order) =>
    order.tokenId === tokenId;
export const by =
  (maker: Address): OrderPredicate =>
  (order) =>
    order.maker === maker;
export const priced =
  (fromWei: bigint, toWei: bigint): OrderPredicate =>
  ({ priceWei }) =>
    priceWei >= fromWei && priceWei <= toWei;

const [punks, kin, kinSecond, editions] = [
  nfts.punks.address,
  nfts.kin.address,
  nfts.kinSecond.address,
  nfts.editions.address,
];
const upperCase = (address: Address) => `0x${address.slice(2).toUpperCase()}`;

/** Filters of both lists, and the orders that match them. */
export const filters: [string, OrderPredicate][] = [
  ["chainId=1", every(active, ofChain(1))],
  ["chainId=33139", every(active, ofChain(33139))],
  ["collection=punks", every(active, on(punks))],
  [`collection=${upperCase(punks)}`, every(active, on(punks))],
  ["collection=KIN", every(active, on(kin, kinSecond))],
  [`collection=${kinSecond}`, every(active, on(kinSecond))],
  ["collection=editions&token_id=2", every(active, on(editions), ofToken(2n))],
  [`collection=${kinSecond}&token_id=6`, every(active, on(kinSecond), ofToken(6n))],
  [`maker=${upperCase(makers.of(1))}`, every(active, ofChain(1), by(makers.of(1)))],
  [`maker=${makers.of(1)}&collection=kin`, every(active, on(kin, kinSecond), by(makers.of(1)))],
  ["token_id=2", every(active, ofChain(1), ofToken(2n))],
  [`token_id=2&maker=${makers.of(1)}`, every(active, ofChain(1), ofToken(2n), by(makers.of(1)))],
  ["token_id=123456", none],
  ["status=inactive", every(inactive, ofChain(1))],
  [`status=inactive&maker=${pauper}`, every(inactive, by(pauper))],
  [`status=inactive&collection=punks`, every(inactive, on(punks))],
  [`maker=${addressOf(7)}`, none],
];
