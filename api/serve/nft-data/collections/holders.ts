import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { readHolders } from "#projections/tokens/read-holders.ts";
import { holderKey, holdersScope, keyOfHolder } from "#api/serve/v1/collections/holders-page.ts";
import { Holder, presentHolder } from "#api/serve/views/holder.ts";
import { route } from "../context.ts";
import { cutList, listFields, listMeta, listPageOf, listRefusals } from "../list-page.ts";
import { collectionAddress } from "../parameters.ts";
import { findByAddress } from "./find.ts";

export const holders = route(
  {
    method: "get",
    path: "/api/collections/{address}/holders",
    operationId: "listHolders",
    tag: "Collections",
    loadClass: "lists",
    summary: "Who holds tokens of a collection, most token ids first; burn addresses left out",
    params: z.object({ address: collectionAddress }),
    query: z.object(listFields),
    data: z.array(Holder),
    meta: listMeta,
    refuses: { not_found: 404, ...listRefusals },
  },
  async ({ params, query }, context) => {
    const collection = await findByAddress(context, params.address);
    if (isRejection(collection)) return collection;
    const { contractIds } = collection;
    const scope = holdersScope(context.chainId, contractIds);
    const request = listPageOf(query, scope, holderKey);
    if (isRejection(request)) return request;
    const rows = await readHolders(context.db, contractIds, request.read);
    const { shown, meta } = cutList(request, rows, keyOfHolder);
    return { data: shown.map(presentHolder), meta };
  },
);
