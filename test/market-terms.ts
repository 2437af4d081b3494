import { type ChainId, wrappedNative } from "../abis/deployments.ts";
import { openChain } from "../api/chain/clients.ts";
import type { Market } from "../api/orders/market.ts";
import { accounts } from "../devnet/accounts.ts";
import type { Database } from "../projections/database.ts";
import { orderBounds } from "../projections/domain/orders/market-terms.ts";

export const testFee = { recipient: accounts.feeRecipient, bps: 100 };

/** The market of a test: its database, and the chains at these addresses. */
export function marketOver(
  writer: Database,
  rpcUrls: Partial<Record<ChainId, string>> = {},
): Market {
  return {
    writer,
    prefix: "mkt",
    terms: (chainId) => ({
      chainId,
      fee: testFee,
      currency: wrappedNative[chainId],
      bounds: orderBounds,
    }),
    chain(chainId) {
      const url = rpcUrls[chainId];
      if (url === undefined) throw new Error(`chain ${chainId} is not served`);
      return openChain({ chainId, rpcUrls: [url] });
    },
    close: async () => {},
  };
}
