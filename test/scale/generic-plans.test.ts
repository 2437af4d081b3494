import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { routes } from "../../api/serve/v1/routes.ts";
import type { Context } from "../../api/serve/v1/routing/context.ts";
import { isRejection } from "../../projections/domain/rejection.ts";
import { chainId } from "../bench/market/collections.ts";
import { createMarket } from "../bench/market/data.ts";
import { readSample } from "../bench/market/lists.ts";
import { readsByPlan } from "../support/database/plans.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";

// A plan for any values must not read more than one for the values of a request, on a market of few large and many small
// collections.

/** As a share of five million tokens. */
const scale = 0.004;

let database: TestDatabase;
let collections: string[];
beforeAll(async () => {
  database = await createDatabase();
  await createMarket(database.db, scale);
  const sample = await readSample(database.db);
  collections = [...new Set(sample.collections.map(({ address }) => address))];
});
afterAll(() => database?.drop());

const planned = routes.filter(({ plansOnceWith }) => plansOnceWith !== undefined);

describe.each(planned.map((route) => [route.path, route] as const))("%s", (_, route) => {
  const { shape = {} } = route.query ?? {};
  const sorts = z.object({ enum: z.record(z.string(), z.string()) });
  const enumOf = (name: string) => {
    const field = shape[name] as z.ZodType | undefined;
    const { data } = sorts.safeParse(field instanceof z.ZodDefault ? field.unwrap() : field);
    return data === undefined ? [undefined] : Object.values(data.enum);
  };
  const orders = enumOf("sort").flatMap((sort) =>
    enumOf("direction").map((direction) => ({
      ...(sort && { sort }),
      ...(direction && { direction }),
    })),
  );

  const answer = (db: Context["db"], collection: string, query: Record<string, string>) => {
    const context = { ...given, db } as unknown as Context;
    const asked = { chainId: String(chainId), ...query };
    const input = {
      params: { collection },
      query: "collection" in shape ? { ...asked, collection } : asked,
      body: undefined,
      address: "",
      key: null,
    };
    return route.answer(input, context);
  };

  it.each(orders)("%o", async (order) => {
    for (const collection of collections.slice(0, 6)) {
      for (const slice of slices) {
        if (Object.keys(slice).some((name) => !(name in shape))) continue;
        const read = async (db: Context["db"]) => {
          const made = await answer(db, collection, { ...order, ...slice });
          if (isRejection(made)) throw new Error(made.message);
          return made;
        };
        const { custom, generic } = await readsByPlan(database.db, read);
        expect(generic, `${collection} ${JSON.stringify(slice)}`).toBeLessThan(1.5 * custom + 50);
      }
    }
  });
});

const slices: Record<string, string>[] = [
  { per_page: "5" },
  { per_page: "100" },
  { per_page: "50", page: "7" },
];

const given = {
  siteUrl: "http://localhost",
  media: {},
  market: { prefix: "x" },
  chains: [chainId],
  now: () => new Date(),
};
