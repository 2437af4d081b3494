import { z } from "zod";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { traitsFields, traitsPage } from "#api/serve/v1/collections/traits-page.ts";
import { presentTraits } from "#api/serve/views/trait.ts";
import { route } from "../context.ts";
import { listMeta, nextMeta } from "../list-page.ts";
import { collectionAddress, readRefusals } from "../parameters.ts";
import { NftAttributes } from "../views/objects.ts";
import { snake } from "../views/snake.ts";
import { findByAddress } from "./find.ts";

export const attributes = route(
  {
    method: "get",
    path: "/api/collections/{address}/attributes",
    operationId: "listAttributes",
    tag: "Collections",
    loadClass: "lists",
    summary: "Attributes of a collection's tokens: how many have each value, and what those cost",
    params: z.object({ address: collectionAddress }),
    query: z.object(traitsFields),
    data: NftAttributes,
    meta: listMeta,
    refuses: { not_found: 404, ...readRefusals, invalid_cursor: 422 },
  },
  async ({ params, query }, context) => {
    const { db, chainId, siteUrl, prefix, now } = context;
    const found = await findByAddress(context, params.address);
    if (isRejection(found)) return found;
    const { contractIds } = found;
    const asked = { chainId, contractIds, prefix, now: now() };
    const page = await traitsPage(db, asked, query);
    if (page === null)
      return reject("not_found", `No attribute ${query.type} in ${params.address}`);
    if (isRejection(page)) return page;
    const meta = nextMeta(page.meta.next_cursor);
    return { data: snake(presentTraits(found, { siteUrl, chainId }, page.types)), meta };
  },
);
