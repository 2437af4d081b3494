import type { SignedSiwe } from "#api/accounts/siwe.ts";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { ServedMarket } from "./served-market.ts";
import type { MarketIds } from "./served-market-data.ts";
import { type KnownSnapshot, snapshotBody } from "./served-snapshot.ts";
import type { KnownWebhooks } from "./served-webhooks.ts";

/** One request of an operation, as its parts. */
type OperationRequest = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | Record<string, string>>>;
  readonly body?: Readonly<Record<string, unknown>>;
};
/** By `method path` of the document. */
export type OperationRequests = Readonly<Record<string, OperationRequest>>;

/** The address of a request, from its operation's path. */
export function addressOf(template: string, { path = {}, query = {} }: OperationRequest): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name) => path[name] ?? "");
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== "object") search.set(name, String(value));
    else for (const [key, one] of Object.entries(value)) search.set(`${name}[${key}]`, one);
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}

const { punks, editions } = contracts;
const lower = (account: { address: string }) => account.address.toLowerCase();
const [alice, bob, carol] = [accounts.alice, accounts.bob, accounts.carol].map(lower);
const page = { per_page: 1 };
const punk = { contract: punks, tokenId: "2" };

const noSnapshot: KnownSnapshot = { id: `0x${"0".repeat(64)}`, block: "2", before: "1" };

function snapshotRequests(chainId: number, { id, block }: KnownSnapshot): OperationRequests {
  const one = { path: { snapshotId: id } };
  return {
    "post /v1/snapshots": { body: snapshotBody(chainId, block) },
    "get /v1/snapshots/{snapshotId}": one,
    "get /v1/snapshots/{snapshotId}/holders": { ...one, query: page },
    "get /v1/snapshots/{snapshotId}/proof": { ...one, query: { wallet: alice ?? "" } },
  };
}

/** What changed up to the block of the snapshot. */
function diffRequests(chainId: number, { block, before }: KnownSnapshot): OperationRequests {
  const query = { chainId, from: before, to: block, ...page };
  return {
    "get /v1/collections/{collection}/diff": { path: { collection: punks }, query },
    "get /v1/wallets/{wallet}/diff": { path: { wallet: alice ?? "" }, query },
  };
}

/** Media and documents that metadata holds in itself, which the local market's does not: not found there. */
function mediaRequests(chainId: number): OperationRequests {
  const ofPunk = { path: { collection: punks, tokenId: "2" }, query: { chainId } };
  const ofPunks = { path: { collection: punks }, query: { chainId } };
  return {
    "get /v1/collections/{collection}/tokens/{tokenId}/image": ofPunk,
    "get /v1/collections/{collection}/tokens/{tokenId}/animation": ofPunk,
    "get /v1/collections/{collection}/tokens/{tokenId}/metadata": ofPunk,
    "get /v1/collections/{collection}/image": ofPunks,
    "get /v1/collections/{collection}/banner": ofPunks,
    "get /v1/snapshots/{snapshotId}/holders.csv": { path: { snapshotId: noSnapshot.id } },
  };
}
export const isMedia = (name: string) => name in mediaRequests(1);

/** A market whose first collection is the punks: its chain, and what its rows are called. */
type KnownMarket = {
  readonly ids: MarketIds;
  readonly chainId?: number;
  readonly webhooks?: KnownWebhooks;
  readonly siwe?: SignedSiwe;
  readonly snapshot?: KnownSnapshot;
};

const unsigned: SignedSiwe = { message: "none", signature: "0x00" };

const noWebhooks: KnownWebhooks = { url: "https://hooks.example.com/", id: "1", spare: "2" };

function webhookRequests(chainId: number, { url, id, spare }: KnownWebhooks): OperationRequests {
  const one = { path: { webhookId: id } };
  return {
    "get /v1/webhooks": {},
    "post /v1/webhooks": { body: { url, chainId, types: ["sale"], collection: punks } },
    "get /v1/webhooks/{webhookId}": one,
    "post /v1/webhooks/{webhookId}": { ...one, body: { wallet: alice, isEnabled: true } },
    "post /v1/webhooks/{webhookId}/rotate-secret": one,
    "post /v1/webhooks/{webhookId}/test": one,
    "get /v1/webhooks/{webhookId}/deliveries": { ...one, query: page },
    "post /v1/webhooks/{webhookId}/delete": { path: { webhookId: spare } },
  };
}

/** A request of every operation of `/v1` that succeeds, except cancels, which are refused to everybody. */
export function v1Requests({
  ids,
  chainId = 1,
  webhooks = noWebhooks,
  siwe = unsigned,
  snapshot = noSnapshot,
}: KnownMarket): OperationRequests {
  const onChain = { query: { chainId } };
  const ask = { path: { askId: ids.ask }, ...onChain };
  const bid = { path: { bidId: ids.bid }, ...onChain };
  const inPunks = (query = {}) => ({
    path: { collection: punks },
    query: { chainId, ...query },
  });
  const list = (query = {}) => ({ query: { chainId, ...page, ...query } });
  return {
    "post /v1/auth/keys": onChain,
    "post /v1/auth/siwe/nonce": { body: { address: alice, chainId } },
    "post /v1/auth/siwe": { body: { ...siwe, name: "price bot", scopes: ["read"] } },
    "get /v1/auth/key": {},
    "get /v1/auth/key/requests": { query: page },
    "get /v1/search": { query: { q: "punks 2", chainId, limit: 1 } },
    "get /v1/collections": list({ search: "punk" }),
    "get /v1/collections/{collection}": inPunks(),
    "get /v1/collections/{collection}/tokens": inPunks({ ...page, traits: { Fur: "Gold" } }),
    "get /v1/collections/{collection}/tokens/{tokenId}": {
      path: { collection: punks, tokenId: "2" },
      ...onChain,
    },
    "get /v1/collections/{collection}/tokens/{tokenId}/ownership": {
      path: { collection: punks, tokenId: "2" },
      ...onChain,
    },
    "get /v1/collections/{collection}/tokens/{tokenId}/holders": {
      path: { collection: punks, tokenId: "2" },
      ...list(),
    },
    "post /v1/collections/{collection}/tokens/{tokenId}/refresh": {
      path: { collection: punks, tokenId: "2" },
      ...onChain,
    },
    "get /v1/collections/{collection}/tokens/{tokenId}/activity": {
      path: { collection: punks, tokenId: "2" },
      ...list(),
    },
    ...mediaRequests(chainId),
    "get /v1/collections/{collection}/traits": inPunks(),
    "get /v1/collections/{collection}/holders": inPunks(page),
    "get /v1/collections/{collection}/holders/distribution": inPunks(),
    "get /v1/collections/{collection}/depth": inPunks({ levels: 1 }),
    "get /v1/collections/{collection}/floor-history": inPunks({ days: 1, interval: "1h" }),
    "get /v1/floor-lines": { query: { chainId, collections: punk.contract, days: 1 } },
    "get /v1/crypto/history": { query: { type: "ethereum", days: 1, interval: "1h" } },
    "get /v1/ens/resolve": { query: { chainId, name: "alice.eth" } },
    "get /v1/sales": list({ collection: punks }),
    "get /v1/sales/{saleId}": { path: { saleId: ids.saleId }, ...onChain },
    "get /v1/transactions/{hash}": { path: { hash: ids.txHash }, ...onChain },
    "get /v1/activity": list({ collection: punks }),
    "get /v1/wallets/{wallet}/tokens": { path: { wallet: alice ?? "" }, ...list() },
    "get /v1/wallets/{wallet}/summary": { path: { wallet: alice ?? "" }, ...onChain },
    "get /v1/wallets/{wallet}/offers": { path: { wallet: alice ?? "" }, ...list() },
    "get /v1/wallets/{wallet}/exposure": { path: { wallet: alice ?? "" }, ...list() },
    "get /v1/events": list({ after: "0-0", type: "sale" }),
    ...snapshotRequests(chainId, snapshot),
    ...diffRequests(chainId, snapshot),
    ...webhookRequests(chainId, webhooks),
    "get /v1/listings": list({ collection: punks, sort: "price_asc" }),
    "get /v1/listings/{askId}": ask,
    "post /v1/listings/{askId}/buy-data": {
      path: { askId: ids.ask },
      body: { chainId, buyer: bob },
    },
    "post /v1/listings/buy-data-bulk": {
      body: { chainId, askIds: [ids.ask, ids.partnerAsk], buyer: bob },
    },
    "post /v1/listings/sweep": {
      body: { chainId, collection: punks, count: 1, buyer: bob },
    },
    "post /v1/listings/requirements": {
      body: {
        ...{ chainId, maker: alice },
        items: [{ ...punk, quantity: 1, unitPriceWei: "1000000000000000000" }],
      },
    },
    "get /v1/bids": list({ collection: punks, sort: "price_desc" }),
    "get /v1/bids/best": { query: { chainId, collection: punks, tokenId: "2" } },
    "post /v1/bids/best-accept-data": { body: { chainId, ...punk, fulfiller: alice } },
    "post /v1/bids/requirements": {
      body: {
        ...{ chainId, maker: carol },
        items: [{ kind: "item", ...punk, amountWei: "100000000000000000", quantity: 1 }],
      },
    },
    "get /v1/bids/{bidId}": bid,
    "post /v1/bids/{bidId}/accept-data": {
      path: { bidId: ids.bid },
      body: { chainId, fulfiller: alice },
    },
    "get /v1/orders/params": {
      query: { chainId, maker: alice ?? "", ...punk, unitPriceWei: "1000000000000000000" },
    },
    "get /v1/orders/asks/{askId}/components": ask,
    "post /v1/orders/asks/{askId}/cancel": ask,
    "post /v1/orders/asks/{askId}/sync": { path: ask.path, body: { chainId } },
    "get /v1/orders/bids/{bidId}/components": bid,
    "post /v1/orders/bids/{bidId}/cancel": bid,
    "post /v1/orders/bids/{bidId}/sync": { path: bid.path, body: { chainId } },
    "post /v1/orders/asks": { body: { chainId, seaport: ids.signedAsk } },
    "post /v1/orders/asks/bulk": { body: { chainId, listings: [{ seaport: ids.signedAsk }] } },
    "post /v1/orders/bids": { body: { chainId, seaport: ids.signedBid } },
    "post /v1/orders/bids/bulk": { body: { chainId, bids: [{ seaport: ids.signedBid }] } },
    "get /v1/status": onChain,
    "get /v1/openapi.json": {},
  };
}

/** The same of the account API. */
export function accountRequests({ login }: Pick<ServedMarket, "login">): OperationRequests {
  const inPunks = (query = {}) => ({ path: { address: punks }, query });
  const ofAlice = { path: { address: alice ?? "" }, query: { limit: 1 } };
  return {
    "post /api/auth/login": { body: login },
    "get /api/collections": { query: { limit: 1 } },
    "get /collections": { query: { limit: 1 } },
    "get /api/collections/{address}": { path: { address: punks } },
    "get /api/collections/{address}/attributes": { path: { address: punks } },
    "get /api/collections/{address}/tokens": inPunks({ limit: 1, attributes: { Fur: "Gold" } }),
    "get /api/collections/{address}/tokens/{tokenId}": { path: { address: punks, tokenId: "2" } },
    "get /api/collections/{address}/holders": inPunks({ limit: 1 }),
    "get /api/wallets/{address}/tokens": ofAlice,
    "get /api/wallets/{address}/offers": ofAlice,
    "get /api/wallets/{address}/activity": ofAlice,
    "get /api/activity": { query: { limit: 1 } },
    "post /api/batch/collections": { body: { addresses: [punks, editions] } },
    "post /api/batch/wallets": { body: { addresses: [alice], limit: 1 } },
    "get /openapi.json": {},
  };
}
