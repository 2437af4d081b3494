import { pino } from "pino";
import { z } from "zod";
import type { AccountContext } from "#api/accounts/account-context.ts";
import { openBearerTokens } from "#api/accounts/bearer-tokens.ts";
import type { SignedSiwe } from "#api/accounts/siwe.ts";
import type { AppOptions } from "#api/app.ts";
import { type Feed, openFeed } from "#api/feed/open-feed.ts";
import { openOwnKeys } from "#api/keys/key-terms.ts";
import { openLimiter } from "#api/keys/limiter.ts";
import { openRequestLog } from "#api/keys/request-log.ts";
import { createPermanentKey, openInstantKeys } from "#api/keys/stored-keys.ts";
import type { Pictures } from "#api/pictures/open-pictures.ts";
import { maxLagSeconds } from "#api/status/service-status.ts";
import { openStatusReader } from "#api/status/status-reader.ts";
import { openHashReader } from "#jobs/chain/client.ts";
import { openHeadReader } from "#jobs/chain/fetch-head.ts";
import { allProjections } from "#projections/all.ts";
import type { Database } from "#projections/log/database.ts";
import type { openOrderBook } from "../orders/order-book-fixture.ts";
import {
  openPartnerOrderBook,
  type PartnerOrderBook,
} from "../orders/partner-order-book-fixture.ts";
import { testFee } from "../orders/test-market.ts";
import { base, makeAccount } from "./nft-data-fixture.ts";
import { type ApiClient, documentedAt } from "./openapi.ts";
import { accountsOf, signSiwe } from "./served-accounts.ts";
import {
  chainId,
  describeTokens,
  fillOrderBook,
  type MarketIds,
  trade,
} from "./served-market-data.ts";
import { type KnownSnapshot, makeKnownSnapshot } from "./served-snapshot.ts";
import {
  accountIdOf,
  type KnownWebhooks,
  makeKnownWebhooks,
  openTakingReceiver,
  webhookOwners,
} from "./served-webhooks.ts";

/** Both APIs over a local chain with trades, orders of every kind, partners' listings, metadata and prices. */
export type ServedMarket = {
  book: PartnerOrderBook;
  v1: ApiClient;
  /** Paths begin at `base`. */
  account: ApiClient;
  bearer: string;
  /** A key of `/v1`, of the account. */
  key: string;
  webhooks: KnownWebhooks;
  /** What a wallet signed to sign in. */
  siwe: SignedSiwe;
  snapshot: KnownSnapshot;
  login: { email: string; client_key: string };
  ids: MarketIds;
  /** The live feed of the pages. */
  feed: Pick<Feed, "notify">;
  close(): Promise<void>;
};

/** `hasPages`: the site that answers link to is the API's own. */
type MarketOptions = {
  readonly hasPages?: boolean;
  /** Of the pages; without them each is drawn. */
  readonly pictures?: Pictures;
  /** A PostgreSQL with the templates of tests' databases, by default the run's. */
  readonly server?: string;
};

/** Address of the API in its answers. */
export const baseUrl = "https://api.example.test";

/** Opens it; every answer is validated against the API's document. */
export async function openServedMarket({
  hasPages,
  pictures,
  server,
}: MarketOptions = {}): Promise<ServedMarket> {
  let feed: Feed | undefined;
  let served: AccountContext | undefined;
  const receiver = await openTakingReceiver();
  const openPagesFeed = ({ db }: AppOptions["context"]): Feed => {
    const source = { db, chainIds: [chainId], feeRecipient: testFee.recipient };
    feed = openFeed({ source, logger: pino({ level: "silent" }) });
    return feed;
  };
  const openServedAccounts = (context: AppOptions["context"]): AccountContext => {
    served = accountsOf(context, baseUrl);
    return served;
  };
  const moreOf: Parameters<typeof openOrderBook>[2] = (context, rpcUrl) => ({
    context: {
      ...context,
      ...servicesOf(context, rpcUrl),
      webhooks: webhookOwners(context.db, receiver.origin),
      accounts: openServedAccounts(context),
      ...(hasPages && { siteUrl: baseUrl }),
    },
    ...(hasPages && feedOption(openPagesFeed(context))),
    baseUrl,
    ...(pictures !== undefined && { pictures }),
    securityContact: "mailto:security@example.test",
    limiter: openLimiter({ db: context.db, limits: unlimited, logger, onUse: () => {} }),
    // Whoever brings a server of its own stops it, too: refusals are expected.
    ...(server !== undefined && { logger: pino({ level: "error" }) }),
    nftData: {
      context: { ...context, ...context.market, chainId, tokens: openBearerTokens(context) },
      segment: base.slice(1),
      perMinute: 0,
    },
  });
  const book = await openPartnerOrderBook(chainId, {
    moreOf,
    ...(server !== undefined && { server }),
  });
  const v1 = book.api;
  await describeTokens(book);
  const sold = await trade(book);
  const ids = { ...(await fillOrderBook(book)), ...sold };
  const account = await documentedAt(v1.url, { base, path: "/openapi.json" });
  const { email, clientKey: client_key } = await makeAccount(book.db);
  const login = { email, client_key };
  const { body } = await account.post(`${base}/api/auth/login`, login);
  const bearer = z.object({ data: z.object({ token: z.string() }) }).parse(body).data.token;
  const accountId = await accountIdOf(book.db, email);
  const key = await makeUsedKey(book.db, accountId);
  const webhooks = await makeKnownWebhooks(book.db, accountId, receiver);
  if (served === undefined) throw new Error("the market was not opened");
  const siwe = await signSiwe(served);
  const snapshot = await makeKnownSnapshot({ db: book.db, v1, key }, chainId);
  return {
    ...{ book, v1, account, bearer, key, webhooks, siwe, snapshot, login, ids },
    feed: { notify: () => feed?.notify() },
    async close() {
      await feed?.stop();
      await book.close();
      await receiver.close();
    },
  };
}

const feedOption = (feed: Feed) => ({
  feedOf: (asked: number) => (asked === chainId ? feed : undefined),
});

const logger = pino({ level: "silent" });
/** A key with a request in its log. */
async function makeUsedKey(db: Database, accountId: number): Promise<string> {
  const asked = { name: "price bot", perMinute: null, accountId };
  const { id, key } = await createPermanentKey(db, asked);
  const log = openRequestLog(db);
  const answered = { status: 200, code: null, requestId: "request-1", durationMs: 12 };
  const request = { method: "GET", path: "/v1/sales", query: "chainId=33139" };
  log.add({ keyId: id, at: new Date(), ...request, ...answered });
  await log.flush();
  return key;
}

const unlimited = { keyless: 0, instant: 0, permanent: 0 };

function servicesOf({ db, now }: AppOptions["context"], rpcUrl: string) {
  const instantKeys = openInstantKeys({
    db,
    requestsPerMinute: 60,
    docs: "https://api.example.test/docs",
    isPaused: async () => false,
  });
  const node = { chainId, rpcUrls: [rpcUrl], timeoutMs: 5_000 } as const;
  const readHead = openHeadReader({ ...node, maxAgeMs: 1_000, staleBlocks: 100 });
  const readStatus = openStatusReader({
    db,
    now,
    chains: [{ chainId, readHead, readHash: openHashReader(node) }],
    projections: allProjections({ feeRecipient: testFee.recipient }).map(({ name }) => name),
    logger,
    lateSeconds: maxLagSeconds,
    maxAgeMs: 60_000,
  });
  const ownKeys = openOwnKeys(db, { keyless: 30, instant: 60, permanent: 120 });
  return { instantKeys, ownKeys, readStatus };
}
