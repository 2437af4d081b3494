import { type Address, getAddress, parseEther } from "viem";
import { z } from "zod";
import { accounts } from "#devnet/accounts.ts";
import { connect } from "#devnet/client.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { openTrader, type Trader } from "../support/chain/trader.ts";
import type { Known } from "../support/http/plausible-requests.ts";
import type { MarketIds } from "../support/http/served-market-data.ts";

export const chainId = 33139;

/** Rows of a running local market, as its API tells them. */
export type KnownMarket = { ids: MarketIds; values: Known["values"]; cursors: string[] };

const List = z.looseObject({
  data: z.array(z.looseObject({})),
  meta: z.looseObject({ next_cursor: z.string().nullish() }),
});

/** Reads ids that lead to rows, and signs orders that may be submitted. */
export async function readKnownMarket(url: string, rpcUrl: string): Promise<KnownMarket> {
  const client = connect({ chainId, rpcUrl });
  const people = [accounts.alice, accounts.bob, accounts.carol];
  const traders = people.map((account) => openTrader({ baseUrl: url, chainId, client, account }));
  const [alice] = traders;
  if (alice === undefined) throw new Error("nobody trades");
  const cursors: string[] = [];
  const list = async (path: string) => {
    const { body } = await alice.get(`${path}${path.includes("?") ? "&" : "?"}chainId=${chainId}`);
    const { data, meta } = List.parse(body);
    if (meta.next_cursor) cursors.push(meta.next_cursor);
    return data;
  };
  const textsOf = async (path: string, name: string) =>
    (await list(path)).map((row) => String(row[name])).filter((text) => text !== "undefined");
  const inPunks = `collection=${contracts.punks}&per_page=5`;
  const asks = await textsOf(`/v1/listings?${inPunks}`, "askId");
  const bids = await textsOf(`/v1/bids?${inPunks}`, "bidId");
  const sales = await list(`/v1/sales?${inPunks}`);
  const tokens = await textsOf(`/v1/collections/${contracts.punks}/tokens?per_page=5`, "tokenId");
  for (const path of ["/v1/activity", "/v1/collections", "/v1/events?after=0-0"]) await list(path);
  const [ask = "", bid = "", sale] = [asks[0], bids[0], sales[0]];
  const ids = {
    ...{ ask, bid, partnerAsk: asks[1] ?? ask, collectionBid: bids[1] ?? bid },
    ...{ saleId: String(sale?.saleId), txHash: String(sale?.txHash) },
    blockNumber: Number(sale?.blockNumber),
    ...(await signOrders(traders)),
  };
  const wallets = people.map(({ address }) => address);
  return { ids, cursors, values: valuesOf({ ids, wallets, tokens, asks, bids, cursors }) };
}

async function signOrders(traders: readonly Trader[]) {
  for (const trader of traders) {
    const { body } = await trader.get(
      `/v1/wallets/${trader.maker}/tokens?chainId=${chainId}&collection=${contracts.punks}`,
    );
    const owned = z.object({ data: z.array(z.looseObject({ tokenId: z.string() })) }).parse(body);
    const [token] = owned.data;
    if (token === undefined) continue;
    const terms = {
      ...{ contract: contracts.punks, tokenId: BigInt(token.tokenId) },
      unitPriceWei: parseEther("900"),
    };
    const signedAsk = await trader.sign(await trader.compose(terms));
    const bidTerms = { contract: contracts.punks, unitPriceWei: parseEther("0.001") };
    return {
      signedAsk,
      signedBid: await trader.sign(await trader.compose(bidTerms, "collection")),
    };
  }
  throw new Error("nobody owns a token");
}

type Rows = {
  ids: MarketIds;
  wallets: Address[];
  tokens: string[];
  asks: string[];
  bids: string[];
  cursors: string[];
};

/** By the names of parameters. */
function valuesOf({ ids, wallets, tokens, asks, bids, cursors }: Rows): Known["values"] {
  const { punks, editions } = contracts;
  const forged = cursors.flatMap(forge);
  return {
    chainId: [`${chainId}`],
    collection: [punks, editions, "local-punks", "LOCAL-PUNKS"],
    ...{ contract: [punks, editions], address: [punks, getAddress(editions)] },
    ...{ tokenId: tokens, token_id: tokens },
    ...{ maker: wallets, wallet: wallets, owner: wallets, buyer: wallets, seller: wallets },
    ...{ askId: asks, bidId: bids, saleId: [ids.saleId], hash: [ids.txHash] },
    page: ["1", "2", "3", "100"],
    ...{ search: ["punk", "%", "local"], q: ["punk", "local 2", ids.txHash] },
    ...{ cursor: [...cursors, ...forged], next_cursor: [...cursors, ...forged] },
  };
}

/** Cursors of a list, changed: other bytes, other keys under the same checksum, cut, and doubled. */
function forge(cursor: string): string[] {
  const bytes = Buffer.from(cursor, "base64url");
  const key = (text: string) =>
    Buffer.concat([bytes.subarray(0, 12), Buffer.from(text)]).toString("base64url");
  return [
    cursor.slice(0, -3),
    cursor + cursor,
    key('["9999999999999999999999","0"]'),
    key("[[[[[[]]]]]]"),
    key('{"__proto__":1}'),
    Buffer.from(bytes.map((byte, index) => (index === 14 ? byte ^ 1 : byte))).toString("base64url"),
  ];
}
