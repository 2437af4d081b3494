import { z } from "zod";
import { chainById } from "#chains/index.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { readPriceAt } from "#projections/prices/read-prices.ts";
import { readCollection } from "#projections/collections/read-collections.ts";
import { noCollection } from "#api/serve/v1/collections/reference.ts";
import { route } from "../context.ts";
import { collectionAddress, readRefusals } from "../parameters.ts";
import { NftCollection, presentNftCollection } from "../views/objects.ts";
import { findByAddress } from "./find.ts";

export const collection = route(
  {
    method: "get",
    path: "/api/collections/{address}",
    operationId: "getCollection",
    tag: "Collections",
    summary: "One collection with its figures",
    params: z.object({ address: collectionAddress }),
    data: NftCollection,
    refuses: { not_found: 404, ...readRefusals },
  },
  async ({ params }, context) => {
    const { db, chainId } = context;
    const found = await findByAddress(context, params.address);
    if (isRejection(found)) return found;
    const at = context.now();
    const [row, coinPriceE8] = await Promise.all([
      readCollection(db, found.collectionId, at),
      readPriceAt(db, chainById(chainId).coin, at),
    ]);
    if (row === null) return noCollection(chainId, params.address);
    return { data: presentNftCollection(row, context, { coinPriceE8, isList: false }) };
  },
);
