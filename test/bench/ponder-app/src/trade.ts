import type { Address, Hex } from "viem";
import { itemType } from "#projections/domain/seaport/order-components.ts";

type Item = { itemType: number; token: Address; identifier: bigint; amount: bigint };

type FulfilledOrder = {
  offerer: Address;
  recipient: Address;
  offer: readonly Item[];
  consideration: readonly (Item & { recipient: Address })[];
};

type Trade = {
  nfts: { collection: Address; tokenId: bigint; quantity: bigint }[];
  /** Per NFT: the total divided equally. */
  price: bigint;
  seller: Address;
  buyer: Address;
  terms: { side: "ask" | "bid"; currency: Hex; fees: { recipient: Address; wei: string }[] };
};

const isNft = (item: Item) => item.itemType >= itemType.erc721;

/** The sale of a fill; null: no NFT is sold for a currency. */
export function tradeOf({
  offerer,
  recipient,
  offer,
  consideration,
}: FulfilledOrder): Trade | null {
  const isAsk = offer.some(isNft);
  const nfts = (isAsk ? offer : consideration).filter(isNft);
  const paid: readonly Item[] = (isAsk ? consideration : offer).filter((item) => !isNft(item));
  const currency = paid[0]?.token;
  if (nfts.length === 0 || currency === undefined) return null;
  const seller = isAsk ? offerer : recipient;
  const buyer = isAsk ? recipient : offerer;
  const total = paid.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    nfts: nfts.map(({ token, identifier, amount }) => ({
      ...{ collection: token, tokenId: identifier, quantity: amount },
    })),
    price: total / BigInt(nfts.length),
    ...{ seller, buyer },
    terms: {
      side: isAsk ? "ask" : "bid",
      currency,
      fees: consideration
        .filter((item) => !isNft(item) && item.recipient !== seller)
        .map((item) => ({ recipient: item.recipient, wei: item.amount.toString() })),
    },
  };
}
