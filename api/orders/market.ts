import { type ChainId, wrappedNative } from "../../abis/deployments.ts";
import { type Database, openDatabase } from "../../projections/database.ts";
import { type MarketTerms, orderBounds } from "../../projections/domain/orders/market-terms.ts";
import { type ChainClient, openChain } from "../chain/clients.ts";
import type { RoleConfig } from "../role.ts";

/** What taking orders in, filling and checking them works with. */
export type Market = {
  /** The database that is written to, for appending and for reads that must see what was appended. */
  writer: Database;
  /** Prefix of `askId` and `bidId`. */
  prefix: string;
  terms(chainId: ChainId): MarketTerms;
  /** Throws for a chain that is not served. */
  chain(chainId: ChainId): ChainClient;
  close(): Promise<void>;
};

const rpcTimeoutMs = 3_000;

export function openMarket(config: RoleConfig, onIdleError: (error: Error) => void): Market {
  const writer = openDatabase({
    url: config.database.url,
    applicationName: "api orders",
    max: 10,
    statementTimeoutMs: 10_000,
    onIdleError,
  });
  const clients = new Map(
    config.chains.map(({ chainId, rpcUrls }) => [
      chainId,
      openChain({ chainId, rpcUrls, timeoutMs: rpcTimeoutMs }),
    ]),
  );
  return {
    writer,
    prefix: config.market.prefix,
    terms: (chainId) => ({
      chainId,
      fee: config.fees,
      currency: wrappedNative[chainId],
      bounds: orderBounds,
    }),
    chain(chainId) {
      const client = clients.get(chainId);
      if (client === undefined) throw new Error(`chain ${chainId} is not served`);
      return client;
    },
    close: () => writer.destroy(),
  };
}
