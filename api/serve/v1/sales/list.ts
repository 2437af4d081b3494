import { z } from "zod";
import type { Database } from "#projections/log/database.ts";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import type { SaleKey } from "#projections/sales/read-sale-filter.ts";
import { readSales } from "#projections/sales/read-sales.ts";
import type { SaleRow } from "#projections/sales/read-sale.ts";
import { readTraitKeys, readTraitKeysOfChain, type RequestedTrait } from "#projections/traits/read-tokens-with-traits.ts";
import { cursorInteger, cutPage, pageFields, pageMeta, pageOf, pageRefusals, rowFields, withFields } from "#api/http/page.ts";
import { presentSale, Sale, salePartsOf } from "#api/serve/views/sale.ts";
import { noCollection, salesContracts } from "../collections/reference.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey, tokenId, traitFilter } from "../routing/parameters.ts";
import { tradeFields, tradeFilterOf, tradeScope } from "./trade-fields.ts";

/** Contracts in which traits are looked up when no collection is named. */
const maxContracts = 1_000;

export const listSales = route(
  {
    method: "get",
    path: "/v1/sales",
    operationId: "listSales",
    tag: "Sales",
    loadClass: "lists",
    summary: "Sales on all indexed marketplaces, newest first",
    plansOnceWith: ["chainId", "collection", "fields", ...Object.keys(pageFields)],
    query: z.object({
      chainId,
      collection: collectionKey.optional(),
      token_id: tokenId.optional().meta({
        description: "Only this token id: of the collection, else of every contract of the chain.",
      }),
      traits: traitFilter(
        "traits",
        `Without \`collection\`, tokens of every contract of the chain: refused where more than ${maxContracts} contracts have such tokens. `,
      ).optional(),
      ...tradeFields,
      fields: rowFields(Sale),
      ...pageFields,
    }),
    data: z.array(Sale),
    meta: pageMeta,
    refuses: { not_found: 404, ...chainRefusals, ...pageRefusals },
    isCacheable: true,
  },
  async ({ query }, { db, siteUrl }) => {
    const traits = query.traits ?? [];
    const contractIds = await salesContracts(db, query);
    if (contractIds === undefined) return noCollection(query.chainId, query.collection);

    const { chainId, token_id: tokenId = null, fields } = query;
    const trade = tradeFilterOf(query);
    if (isRejection(trade)) return trade;
    const scope = {
      list: "sales",
      chainId,
      tokenId,
      contractIds: contractIds?.join() ?? null,
      traits: JSON.stringify(traits.toSorted()),
      ...tradeScope(trade),
    };
    const request = pageOf(query, scope, saleKey);
    if (isRejection(request)) return request;
    const traitKeys = await keysOfTraits(db, { chainId, contractIds }, traits);
    if (isRejection(traitKeys)) return traitKeys;
    const filter = { chainId, contractIds, tokenId, traits, traitKeys, trade };
    const { rows, total } = await readSales(db, filter, request.read, salePartsOf(fields));
    const { shown, meta } = cutPage(request, rows, keyOf);
    return {
      data: withFields(
        shown.map((row) => presentSale(row, siteUrl)),
        fields,
      ),
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

type Place = { chainId: number; contractIds: readonly number[] | null };

async function keysOfTraits(
  db: Database,
  { chainId, contractIds }: Place,
  traits: readonly RequestedTrait[],
) {
  if (traits.length === 0) return [];
  if (contractIds !== null) return await readTraitKeys(db, contractIds, traits);
  const found = await readTraitKeysOfChain(db, chainId, traits, maxContracts);
  if (found !== null) return found;
  const message = `tokens of more than ${maxContracts} contracts have them: add collection`;
  return reject("invalid_parameters", `traits: ${message}`, [{ field: "traits", message }]);
}
