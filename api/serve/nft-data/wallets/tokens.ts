import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { readWalletTokenDetails } from "#projections/tokens/read-wallet-tokens.ts";
import { ownContracts } from "#api/serve/v1/collections/reference.ts";
import { heldKey, keyOfHeld, walletScope } from "#api/serve/v1/wallets/held-page.ts";
import { findByAddress } from "../collections/find.ts";
import { route } from "../context.ts";
import { cutList, listFields, listMeta, listPageOf, listRefusals } from "../list-page.ts";
import { address, collectionAddress } from "../parameters.ts";
import { NftHeldToken, presentNftHeld } from "../views/objects.ts";

export const walletTokens = route(
  {
    method: "get",
    path: "/api/wallets/{address}/tokens",
    operationId: "listWalletTokens",
    tag: "Wallets",
    loadClass: "lists",
    summary: "Tokens that a wallet holds, of both standards",
    params: z.object({ address }),
    query: z.object({ collection: collectionAddress.optional(), ...listFields }),
    data: z.array(NftHeldToken),
    meta: listMeta,
    refuses: { not_found: 404, ...listRefusals },
  },
  async ({ params, query }, context) => {
    const { db, chainId, now } = context;
    const found =
      query.collection === undefined ? null : await findByAddress(context, query.collection);
    if (isRejection(found)) return found;
    const contractIds = found === null ? null : ownContracts(found);
    const filter = { chainId, wallet: params.address, contractIds };
    const request = listPageOf(query, walletScope(filter), heldKey);
    if (isRejection(request)) return request;
    const [rows = []] = await readWalletTokenDetails(db, [filter], request.read, now());
    const { shown, meta } = cutList(request, rows, keyOfHeld);
    return { data: shown.map((row) => presentNftHeld(row, context)), meta };
  },
);
