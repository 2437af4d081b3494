import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { routes } from "#api/routes.ts";
import type { Context } from "#api/v1/context.ts";
import { defaultGateways } from "#api/v1/media-links.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { chainId } from "../bench/market/collections.ts";
import { createMarket } from "../bench/market/data.ts";
import { readSample } from "../bench/market/lists.ts";
import { readsByPlan } from "../support/database/plans.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";

// A plan for any values must not read more than one for the values of a request, on a market of few large and many small
// collections, but for what a page's own rows take to look up.

/** As a share of five million tokens. */
const scale = 0.004;
const prefix = "x";
/** Checked against what routes need, but for the market, of which these read only the prefix and whether buying is paused. */
const served: Pick<Context, "siteUrl" | "media" | "chains" | "now"> = {
  siteUrl: "http://localhost",
  media: { baseUrl: "http://localhost", ...defaultGateways },
  chains: [chainId],
  now: () => new Date(),
};
const context = { ...served, market: { prefix, isPaused: async () => false } };

let database: TestDatabase;
/** Values of parameters in paths, several of each. */
let named: Record<string, string>[];
beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
  await createMarket(db, scale);
  const { collections, described } = await readSample(db);
  const addresses = [...new Set(collections.map(({ address }) => address))];
  const { rows } = await sql<Record<string, string>>`
    select s.sale_id as "saleId", s.transaction_hash as hash, s.seller as wallet,
           ${`${prefix}-`} || '0x' || encode(l.order_hash, 'hex') as "askId",
           ${`${prefix}-`} || '0x' || encode(b.order_hash, 'hex') as "bidId"
    from (select *, row_number() over () as n from sales.sale order by block_id limit 6) s
    join (select *, row_number() over () as n from listings.listing limit 6) l using (n)
    join (select *, row_number() over () as n from bids.bid limit 6) b using (n)`.execute(db);
  named = rows.flatMap((row, place) => {
    const token = described[place];
    if (token === undefined) return [];
    const one = { ...row, collection: token.address, tokenId: token.id, wallet: token.owner };
    return [one, { ...one, ...row, collection: addresses[place] ?? token.address }];
  });
});
afterAll(() => database?.drop());

const slices: Record<string, string>[] = [
  {},
  { per_page: "5" },
  { per_page: "100" },
  { per_page: "50", page: "7" },
];

const Enumeration = z.object({ enum: z.record(z.string(), z.string()) });

const planned = routes.filter(({ plansOnceWith }) => plansOnceWith !== undefined);

describe.each(planned.map((route) => [route.path, route] as const))("%s", (path, route) => {
  const shape: Record<string, unknown> = route.query?.shape ?? {};
  const valuesOf = (name: string) => {
    const field = shape[name];
    const { data } = Enumeration.safeParse(field instanceof z.ZodDefault ? field.unwrap() : field);
    return data === undefined ? [{}] : Object.values(data.enum).map((value) => ({ [name]: value }));
  };
  const orders = valuesOf("sort").flatMap((sort) =>
    valuesOf("direction").map((direction) => ({ ...sort, ...direction })),
  );
  const shapes = slices.filter((slice) => Object.keys(slice).every((name) => name in shape));
  /** Of one collection, where it may be asked for, or of all. */
  const scopesOf = ({ collection = "" }) => ("collection" in shape ? [{}, { collection }] : [{}]);

  const isNamed = path.includes("{") || "collection" in shape;

  it.each(orders)("%o", async (order) => {
    for (const params of isNamed ? named : named.slice(0, 1)) {
      const queries = shapes.flatMap((one) =>
        scopesOf(params).map((scope) => ({ chainId: `${chainId}`, ...order, ...one, ...scope })),
      );
      for (const query of queries) {
        const { custom, generic } = await readsOf(params, query);
        const rows = Number("per_page" in query ? query.per_page : 50);
        const message = JSON.stringify({ ...params, ...query });
        expect(generic, message).toBeLessThan(1.5 * custom + 5 * rows + 50);
      }
    }
  });

  function readsOf(params: Record<string, string>, query: Record<string, string>) {
    const asked = { params, query, body: undefined, address: "", key: null };
    return readsByPlan(database.db, async (db) => {
      const made = await route.answer(asked, { ...context, db } as unknown as Context);
      // A collection may have no token of the other one's id.
      if (isRejection(made) && made.rejected !== "not_found") throw new Error(made.message);
    });
  }
});
