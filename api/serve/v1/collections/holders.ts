import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { countHolders, readHolders } from "#projections/tokens/read-holders.ts";
import { cursorPageOf, cursorRefusals, cutPage, pageFields } from "#api/http/page.ts";
import { Holder, presentHolder } from "#api/serve/views/holder.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey } from "../routing/parameters.ts";
import { holderKey, holdersScope, keyOfHolder } from "./holders-page.ts";
import { noCollection, referTo } from "./reference.ts";
import { cursorMeta } from "./tokens.ts";

const { per_page, cursor } = pageFields;

export const holders = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/holders",
    operationId: "listHolders",
    tag: "Collections",
    loadClass: "lists",
    summary: "Who holds tokens of a collection, most token ids first; burn addresses left out",
    params: z.object({ collection: collectionKey }),
    query: z.object({ chainId, cursor, per_page }),
    data: z.array(Holder),
    meta: cursorMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db }) => {
    const { chainId } = query;
    const collection = await referTo(db, chainId, params.collection);
    if (collection === null) return noCollection(chainId, params.collection);
    const { contractIds } = collection;
    const request = cursorPageOf(query, holdersScope(chainId, contractIds), holderKey);
    if (isRejection(request)) return request;
    const [rows, total] = await Promise.all([
      readHolders(db, contractIds, request.read),
      countHolders(db, contractIds),
    ]);
    const { shown, meta } = cutPage(request, rows, keyOfHolder);
    return {
      data: shown.map(presentHolder),
      meta: {
        chainId,
        total: Number(total),
        per_page: meta.per_page,
        next_cursor: meta.next_cursor,
      },
    };
  },
);
