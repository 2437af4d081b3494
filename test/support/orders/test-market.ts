import type { Market } from "#api/orders/market.ts";
import { assembleMarket } from "#api/orders/open-market.ts";
import { type ChainId, chainIds } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import type { Database } from "#projections/log/database.ts";

export const testFee = { recipient: accounts.feeRecipient, bps: 100 };

/** Enough for tests of other rules. */
const wideQuotas: OrderQuotas = {
  maker: 10_000,
  contract: 100_000,
  untradedPerDay: 10_000_000,
  newcomersPerDay: 10_000_000,
  bidExposure: 1_000_000,
};

/** The market of a test: its database, and the chains at these addresses. Without `waitUntilProjected` nothing is projected. */
export function openTestMarket(
  writer: Database,
  rpcUrls: Partial<Record<ChainId, string>> = {},
  waitUntilProjected: Market["waitUntilProjected"] = async () => false,
  partners: Market["partners"] = [],
  quotas: Partial<OrderQuotas> = {},
): Market {
  const chains = chainIds.flatMap((chainId) => {
    const url = rpcUrls[chainId];
    return url === undefined ? [] : [{ chainId, rpcUrls: [url], collections: "all" as const }];
  });
  const enabled = { listings: true, offers: true, buying: true };
  const market = { prefix: "mkt", enabled, quotas: { ...wideQuotas, ...quotas } };
  return {
    ...assembleMarket({ chains, fees: testFee, market }, { writer, partners, waitUntilProjected }),
    close: async () => {},
  };
}
