import { z } from "zod";
import { chainById } from "#chains/index.ts";
import { readPriceAt } from "#projections/prices/read-prices.ts";
import { readCollectionIds } from "#projections/collections/find-collection.ts";
import { readCollection } from "#projections/collections/read-collections.ts";
import { address } from "#api/serve/views/wire.ts";
import { route } from "../context.ts";
import { addresses } from "../parameters.ts";
import { NftCollection, presentNftCollection } from "../views/objects.ts";

export const batchCollections = route(
  {
    method: "post",
    path: "/api/batch/collections",
    operationId: "getCollections",
    tag: "Batches",
    loadClass: "lists",
    reads: "snapshot",
    summary: "Up to 10 collections at once, in the order asked",
    body: z.strictObject({ addresses }),
    data: z.array(
      z.object({
        address,
        collection: NftCollection.nullable().meta({ description: "null: no collection has it." }),
      }),
    ),
    refuses: { bad_structure: 422 },
  },
  async ({ body }, context) => {
    const { db, chainId } = context;
    const at = context.now();
    const ids = await readCollectionIds(db, chainId, body.addresses);
    const distinct = [...new Set(ids.values())];
    const [coinPriceE8, ...rows] = await Promise.all([
      readPriceAt(db, chainById(chainId).coin, at),
      ...distinct.map((id) => readCollection(db, id, at)),
    ]);
    const shown = new Map(
      rows.map((row, place) => [
        distinct[place],
        row && presentNftCollection(row, context, { coinPriceE8, isList: true }),
      ]),
    );
    return {
      data: body.addresses.map((one) => ({
        address: one,
        collection: shown.get(ids.get(one)) ?? null,
      })),
    };
  },
);
