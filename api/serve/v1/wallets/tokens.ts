import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { readWalletTokenDetails } from "#projections/tokens/read-wallet-tokens.ts";
import { cursorPageOf, cursorRefusals, cutPage, pageFields, uncountedMeta, rowFields, withFields } from "#api/http/page.ts";
import { HeldToken, presentHeld } from "#api/serve/views/held-token.ts";
import { tokenPartsOf } from "#api/serve/views/token.ts";
import { noCollection, salesContracts } from "../collections/reference.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey, wallet } from "../routing/parameters.ts";
import { heldKey, keyOfHeld, walletScope } from "./held-page.ts";

const { per_page, cursor } = pageFields;
const fields = rowFields(HeldToken);

export const walletTokens = route(
  {
    method: "get",
    path: "/v1/wallets/{wallet}/tokens",
    operationId: "listWalletTokens",
    tag: "Wallets",
    loadClass: "lists",
    summary: "Tokens that a wallet holds, of both standards, by contract and id",
    params: z.object({ wallet }),
    query: z.object({ chainId, collection: collectionKey.optional(), fields, cursor, per_page }),
    data: z.array(HeldToken),
    meta: uncountedMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ params: { wallet }, query }, { db, siteUrl, media, market: { prefix }, now }) => {
    const { chainId, collection } = query;
    const contractIds = await salesContracts(db, { chainId, collection });
    if (contractIds === undefined) return noCollection(chainId, collection);
    const filter = { chainId, wallet, contractIds };
    const request = cursorPageOf(query, walletScope(filter), heldKey);
    if (isRejection(request)) return request;
    const parts = tokenPartsOf(query.fields);
    const [rows = []] = await readWalletTokenDetails(db, [filter], request.read, now(), parts);
    const { shown, meta } = cutPage(request, rows, keyOfHeld);
    return {
      data: withFields(
        shown.map((row) => presentHeld(row, { siteUrl, prefix, chainId, media })),
        query.fields,
      ),
      meta: { chainId, per_page: meta.per_page, next_cursor: meta.next_cursor },
    };
  },
);
