import type { Logger } from "pino";
import { type ChainId, wrappedNative } from "../../../abis/deployments.ts";
import { type Database, openDatabase } from "../../../projections/database.ts";
import { type MarketTerms, orderBounds } from "../../../projections/domain/orders/market-terms.ts";
import { openSwitch } from "../../../projections/log/switches.ts";
import type { ChainConfig } from "../../run/config/config.ts";
import type { RoleConfig } from "../../run/roles/role.ts";
import type { ChainAnswers } from "../chain/ask-chain.ts";
import { type ChainClient, openChain } from "../chain/clients.ts";
import { openChainAsker } from "../chain/open-asker.ts";
import type { Question } from "../chain/questions.ts";
import { openPartners } from "../marketplaces/open-partners.ts";
import type { Partner } from "../marketplaces/partner.ts";
import { hurried } from "../marketplaces/transport.ts";
import { type Admit, openAdmission } from "./intake/admit.ts";
import { openProjectedWaiter } from "./intake/await-projected.ts";

/** Parts of the market that an operator may close for a while. */
type MarketPart = "listings" | "offers" | "buying";

/** What taking orders in, filling and checking them works with. */
export type Market = {
  /** The database that is written to, for appending and for reads that must see what was appended. */
  writer: Database;
  /** Prefix of `askId` and `bidId`. */
  prefix: string;
  terms(chainId: ChainId): MarketTerms;
  /** Throws for a chain that is not served. */
  chain(chainId: ChainId): ChainClient;
  /** Asks the chain; who asks at the same time shares a round. Throws `RpcFailure`. */
  ask(chainId: ChainId, questions: readonly Question[]): Promise<ChainAnswers>;
  /** Whether every NFT contract of the chain is covered, seen or not. */
  coversAll(chainId: ChainId): boolean;
  isPaused(part: MarketPart): Promise<boolean>;
  /** Other marketplaces that are asked while somebody waits. */
  partners: readonly Partner[];
  /** Takes orders in. */
  admit: Admit;
  /** Waits until the books tell what stands in the log up to a position; false when they do not in time. */
  untilProjected(position: bigint): Promise<boolean>;
  close(): Promise<void>;
};

const rpcTimeoutMs = 3_000;

export function openMarket(config: RoleConfig, logger: Logger): Market {
  const writer = openDatabase({
    url: config.database.url,
    applicationName: "api orders",
    max: 10,
    prepares: true,
    plansOnce: true,
    statementTimeoutMs: 10_000,
    onIdleError: (error) => logger.warn({ err: error }, "a database connection was lost"),
  });
  const projected = openProjectedWaiter({ db: writer, url: config.database.url, logger });
  const partners = openPartners(config.partners, hurried);
  return {
    ...assembleMarket(config, { writer, partners, untilProjected: projected.until }),
    async close() {
      await projected.stop();
      await Promise.all([writer.destroy(), ...partners.map((partner) => partner.close())]);
    },
  };
}

type MarketConfig = Pick<RoleConfig, "fees" | "market"> & {
  chains: readonly Pick<ChainConfig, "chainId" | "rpcUrls" | "collections">[];
};

/** A market over a database and partners of the caller's. */
export function assembleMarket(
  config: MarketConfig,
  { writer, partners, untilProjected }: Pick<Market, "writer" | "partners" | "untilProjected">,
): Omit<Market, "close"> {
  const clients = new Map(
    config.chains.map(({ chainId, rpcUrls }) => [
      chainId,
      openChain({ chainId, rpcUrls, timeoutMs: rpcTimeoutMs }),
    ]),
  );
  const chain = (chainId: ChainId) => served(clients, chainId);
  const askers = new Map([...clients].map(([id, client]) => [id, openChainAsker(client)]));
  const terms = (chainId: ChainId) => ({
    chainId,
    fee: config.fees,
    currency: wrappedNative[chainId],
    bounds: orderBounds,
  });
  const coversAll = (chainId: ChainId) =>
    config.chains.some((one) => one.chainId === chainId && one.collections === "all");
  const { prefix, enabled } = config.market;
  const switches = {
    listings: openSwitch(writer, "listings", !enabled.listings),
    offers: openSwitch(writer, "offers", !enabled.offers),
    buying: openSwitch(writer, "buying", !enabled.buying),
  };
  return {
    writer,
    prefix,
    terms,
    chain,
    ask: (chainId, questions) => served(askers, chainId)(questions),
    coversAll,
    isPaused: (part) => switches[part](),
    partners,
    admit: openAdmission({ db: writer, chain, coversAll, untilProjected }, terms),
    untilProjected,
  };
}

function served<Value>(values: ReadonlyMap<ChainId, Value>, chainId: ChainId): Value {
  const value = values.get(chainId);
  if (value === undefined) throw new Error(`chain ${chainId} is not served`);
  return value;
}
