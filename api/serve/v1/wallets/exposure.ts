import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { cursorPageOf, cursorRefusals, cutPage, pageFields, uncountedMeta } from "#api/http/page.ts";
import { Exposure } from "#api/serve/views/orders/exposure.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, wallet } from "../routing/parameters.ts";
import { exposureKey, readExposure } from "./exposure-page.ts";

const { per_page, cursor } = pageFields;

export const walletExposure = route(
  {
    method: "get",
    path: "/v1/wallets/{wallet}/exposure",
    operationId: "listWalletExposure",
    tag: "Wallets",
    loadClass: "lists",
    summary:
      "What others could use of a wallet: inactive orders that become fillable when a token, money or an approval comes back, then open approvals to the exchange and the conduit, each with the transaction that ends it",
    params: z.object({ wallet }),
    query: z.object({ chainId, cursor, per_page }),
    data: z.array(Exposure),
    meta: uncountedMeta,
    refuses: { ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, market: { prefix }, now }) => {
    const { chainId } = query;
    const maker = params.wallet;
    const request = cursorPageOf(query, { list: "exposure", chainId, maker }, exposureKey);
    if (isRejection(request)) return request;
    const context = { siteUrl, prefix, now: now() };
    const rows = await readExposure(db, { chainId, maker }, request.read, context);
    const { shown, meta } = cutPage(request, rows, ({ key }) => key);
    return {
      data: shown.map(({ item }) => item),
      meta: { chainId, per_page: meta.per_page, next_cursor: meta.next_cursor },
    };
  },
);
