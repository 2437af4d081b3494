import { nftDataRoutes } from "#api/account/routes.ts";
import { openBearerTokens } from "#api/accounts/bearer-tokens.ts";
import type { Market } from "#api/orders/market.ts";
import { assembleMarket } from "#api/orders/open-market.ts";
import { routes as v1Routes } from "#api/routes.ts";
import { defaultGateways } from "#api/v1/media-links.ts";
import { defaultQuotas } from "#projections/domain/orders/order-quotas.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { chainId } from "./collections.ts";
import type { ListRequest } from "./lists.ts";
import { openMeter, type Spent } from "./meter.ts";

/** A request's result and the cost of its statements. */
type MeteredAnswer = {
  data: unknown;
  meta: Record<string, unknown>;
  spent: Spent;
};

/** Calls the API's routes without HTTP. No request finds results cached by another. */
export type RouteClient = {
  call(request: ListRequest): Promise<MeteredAnswer>;
  close(): Promise<void>;
};

export function openRouteClient(url: string): RouteClient {
  const meter = openMeter(url);
  const media = { baseUrl: "http://127.0.0.1", ...defaultGateways };
  const shared = { siteUrl: "http://127.0.0.1", media, now: () => new Date() };
  const market = openBenchMarket(meter.open());
  const readStatus = () => Promise.reject(new Error("the status is not measured"));
  const answerOf = ({ path, params, query }: ListRequest) => {
    const db = meter.open();
    const raw = { params, query, body: undefined, address: "127.0.0.1", key: null };
    const v1 = v1Routes.find((route) => route.method === "get" && route.path === path);
    if (v1 !== undefined)
      return v1.answer(raw, { ...shared, db, chains: [chainId], market, readStatus });
    const route = nftDataRoutes.find((one) => one.method === "get" && one.path === path);
    if (route === undefined) throw new Error(`no route ${path}`);
    const tokens = openBearerTokens({ db });
    return route.answer(raw, { ...shared, db, ...market, chainId, tokens });
  };
  return {
    async call(request) {
      meter.take();
      const answer = await answerOf(request);
      if (isRejection(answer)) throw new Error(`${request.path}: ${answer.message}`);
      const { data, meta } = answer;
      return { data, meta: (meta ?? {}) as MeteredAnswer["meta"], spent: meter.take() };
    },
    close: () => meter.close(),
  };
}

/** What endpoints of orders need; nothing that is measured asks a chain. */
export function openBenchMarket(writer: Database): Market {
  const assembled = assembleMarket(
    {
      fees: { bps: 100, recipient: "0x00000000000000000000000000000000000fee00" },
      market: {
        prefix: "mkt",
        enabled: { listings: true, offers: true, buying: true },
        quotas: defaultQuotas,
      },
      chains: [{ chainId, rpcUrls: ["http://127.0.0.1:9"], collections: "all" }],
    },
    { writer, partners: [], waitUntilProjected: async () => true },
  );
  return { ...assembled, close: async () => {} };
}
