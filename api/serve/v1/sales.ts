import { z } from "zod";
import { isRejection, reject } from "../../../projections/domain/rejection.ts";
import type { SaleKey } from "../../../projections/reads/sales/order.ts";
import { readSales } from "../../../projections/reads/sales/read.ts";
import type { SaleRow } from "../../../projections/reads/sales/sale-columns.ts";
import { readTraitKeys } from "../../../projections/reads/traits/read-trait-keys.ts";
import {
  cursorInteger,
  cutPage,
  pageFields,
  pageMeta,
  pageOf,
  pageRefusals,
} from "../http/page.ts";
import { presentSale, Sale } from "../views/sale.ts";
import { noCollection, salesContracts } from "./collections/reference.ts";
import { route } from "./routing/context.ts";
import { chainId, chainRefusals, collectionKey, text, tokenId } from "./routing/parameters.ts";

const maxTraits = 5;

const traits = z
  .record(text(100), text(500))
  .refine(
    (values) => Object.keys(values).length <= maxTraits,
    `must contain at most ${maxTraits} traits`,
  )
  .meta({
    description:
      "`traits[<type>]=<value>`; all must match. Requires `collection`. Types ignore case and spacing, values are those of the token's `attributes`.",
    param: { style: "deepObject", explode: true },
  });

export const sales = route(
  {
    method: "get",
    path: "/v1/sales",
    tag: "Sales",
    summary: "Sales on all indexed marketplaces, newest first",
    query: z.object({
      chainId,
      collection: collectionKey.optional(),
      token_id: tokenId.optional(),
      traits: traits.optional(),
      ...pageFields,
    }),
    data: z.array(Sale),
    meta: pageMeta,
    refuses: { not_found: 404, ...chainRefusals, ...pageRefusals },
    isCacheable: true,
  },
  async ({ query }, { db, siteUrl }) => {
    if (query.token_id !== undefined && query.collection === undefined) {
      return unusable("token_id", "needs collection, since ids repeat between collections");
    }
    const traits = Object.entries(query.traits ?? {});
    if (traits.length > 0 && query.collection === undefined) {
      return unusable("traits", "needs collection");
    }
    const contractIds = await salesContracts(db, query);
    if (contractIds === undefined) return noCollection(query.chainId, query.collection);

    const { chainId, token_id: tokenId = null } = query;
    const scope = {
      list: "sales",
      ...{ chainId, tokenId },
      contractIds: contractIds?.join() ?? null,
      traits: JSON.stringify(traits.toSorted()),
    };
    const request = pageOf(query, scope, saleKey);
    if (isRejection(request)) return request;
    const traitKeys = await readTraitKeys(db, contractIds ?? [], traits);
    const filter = { chainId, contractIds, tokenId, traitKeys };
    const { rows, total } = await readSales(db, filter, request.read);
    const { shown, meta } = cutPage(request, rows, keyOf);
    return {
      data: shown.map((row) => presentSale(row, siteUrl)),
      meta: { chainId: query.chainId, total: Number(total), ...meta },
    };
  },
);

/** Digits are those of bigint and integer columns. */
const saleKey = z.tuple([cursorInteger(18), cursorInteger(9), cursorInteger(9)]).transform(
  ([blockId, transactionIndex, ordinal]): SaleKey => ({
    blockId,
    transactionIndex: Number(transactionIndex),
    ordinal: Number(ordinal),
  }),
);

function keyOf({ blockId, transactionIndex, ordinal }: SaleRow) {
  return [blockId, transactionIndex, ordinal];
}

function unusable(field: string, message: string) {
  return reject("invalid_parameters", `${field}: ${message}`, [{ field, message }]);
}
