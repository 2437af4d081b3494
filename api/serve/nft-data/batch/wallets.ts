import { z } from "zod";
import { readWalletTokenDetails } from "#projections/tokens/read-wallet-tokens.ts";
import { keyOfHeld, walletScope } from "#api/serve/v1/wallets/held-page.ts";
import { address } from "#api/serve/views/wire.ts";
import { route } from "../context.ts";
import { cutList, listMeta, nextMeta } from "../list-page.ts";
import { addresses } from "../parameters.ts";
import { NftHeldToken, presentNftHeld } from "../views/objects.ts";

export const batchWallets = route(
  {
    method: "post",
    path: "/api/batch/wallets",
    operationId: "listTokensOfWallets",
    tag: "Batches",
    loadClass: "lists",
    reads: "snapshot",
    summary: "The first tokens of up to 10 wallets at once, in the order asked",
    body: z.strictObject({
      addresses,
      limit: z.int().min(1).max(100).default(20).meta({ description: "Tokens of each wallet." }),
    }),
    data: z.array(
      z.object({
        address,
        tokens: z.array(NftHeldToken),
        next_cursor: listMeta.shape.next_cursor.meta({
          description: "For `/api/wallets/{address}/tokens`; null when nothing follows.",
        }),
        has_more: listMeta.shape.has_more,
      }),
    ),
    refuses: { bad_structure: 422 },
  },
  async ({ body }, context) => {
    const { db, chainId, now } = context;
    const wallets = [...new Set(body.addresses)];
    const filters = wallets.map((wallet) => ({ chainId, wallet, contractIds: null }));
    const read = { limit: body.limit + 1, offset: 0, after: null };
    const lists = await readWalletTokenDetails(db, filters, read, now());
    const pages = new Map(
      filters.map((filter, place) => {
        const request = { page: null, perPage: body.limit, scope: walletScope(filter), read };
        return [filter.wallet, cutList(request, lists[place] ?? [], keyOfHeld)];
      }),
    );
    return {
      data: body.addresses.map((wallet) => {
        const { shown, meta } = pages.get(wallet) ?? { shown: [], meta: nextMeta(null) };
        const tokens = shown.map((row) => presentNftHeld(row, context));
        return { address: wallet, tokens, ...meta };
      }),
    };
  },
);
