import { type Address, zeroAddress } from "viem";
import {
  sudoswapFactories,
  sudoswapV1FactoryEvents,
  sudoswapV1PoolEvents,
  sudoswapV2FactoryEvents,
  sudoswapV2PoolEvents,
} from "#abis/sudoswap.ts";
import {
  type Exchange,
  type ExchangeTransaction,
  type FeePayment,
  type Fill,
  type PlacedEvent,
  sourceOf,
  type TokenTransfer,
  type Trade,
  translateEvents,
  UnresolvableEvent,
} from "../model/exchange.ts";
import { type LogRange, nftTransfers, payments, sumOfAmounts } from "../model/payments.ts";

type SwapArgs = {
  /** What the pool pays in all, and what it is paid. */
  amountOut?: string;
  amountIn?: string;
  royaltyAmount?: string;
  ids?: string[];
  numNFTs?: string;
};

type NftTransfer = TokenTransfer & { tokenId: string };
type Swap = { event: PlacedEvent; args: SwapArgs; isSale: boolean; range: LogRange };
type Price = Pick<Trade, "currency" | "totalWei" | "fees">;

/** A swap with a pool, which sells or buys: the tokens are those that moved since the swap before. */
function tradesOf({ transfers, ...transaction }: ExchangeTransaction): Fill[] {
  let after = -1;
  return translateEvents({ transfers, ...transaction }, (event) => {
    const version = event.source === "SudoswapV1" ? "1" : "2";
    if (event.factory !== sudoswapFactories[version]) throw new UnresolvableEvent("unknown_pool");
    const range = { after, before: event.logIndex };
    after = event.logIndex;
    const isSale = event.event === "SwapNFTOutPair";
    const swap = { event, args: event.args as SwapArgs, isSale, range };
    const moved = movedBy(swap, transfers);
    return {
      items: moved.map(({ contract, tokenId, amount, from: seller, to: buyer }, index) => {
        return { contract, tokenId, units: BigInt(amount), seller, buyer, transfer: moved[index] };
      }) as Trade["items"],
      ...(version === "1" ? coinPrice(swap, transfers) : statedPrice(swap, transfers)),
      side: isSale ? "ask" : "bid",
      exchange: event.contract,
      protocolVersion: version,
      orderHash: null,
      logIndex: event.logIndex,
      zones: [],
    };
  });
}

/** What a pool buys may go to another receiver that its owner chose: then the ids tell. */
function movedBy(
  { event: { contract: pool }, args, isSale, range }: Swap,
  transfers: readonly TokenTransfer[],
): NftTransfer[] {
  const all = nftTransfers(transfers, range);
  const ofPool = all.filter(({ from, to }) => (isSale ? from : to) === pool);
  const moved = ofPool.length > 0 || isSale ? ofPool : withIds(all, args.ids ?? []);
  if (moved.length === 0) throw new UnresolvableEvent("transfer_missing");
  const { ids, numNFTs } = args;
  const isComplete =
    (ids === undefined ||
      (ids.length === moved.length && withIds(moved, ids).length === ids.length)) &&
    (numNFTs === undefined || BigInt(numNFTs) === sumOfAmounts(moved));
  if (!isComplete) throw new UnresolvableEvent("transfer_mismatch");
  return moved;
}

function withIds(transfers: readonly NftTransfer[], ids: readonly string[]): NftTransfer[] {
  return transfers.filter(({ tokenId }) => ids.includes(tokenId));
}

/** Of the second version, which states what the buyer pays; of what a pool buys what the seller gets, and the royalty. */
function statedPrice({ args, isSale, ...swap }: Swap, transfers: readonly TokenTransfer[]): Price {
  const { amountIn, amountOut, royaltyAmount = "0" } = args;
  const royalty = BigInt(royaltyAmount);
  const stated = BigInt((isSale ? amountIn : amountOut) ?? "");
  const fees: FeePayment[] = royalty > 0n ? [{ recipient: zeroAddress, wei: royalty }] : [];
  const currency = currencyOf({ args, isSale, ...swap }, transfers, stated);
  return { currency, totalWei: isSale ? stated : stated + royalty, fees };
}

/**
 * What the pool is paid in, as it says itself: a coin may move without a log, or with one of another amount, and would
 * pass for ether. Where it was not asked, as before there was that question, the transfers tell.
 */
function currencyOf(swap: Swap, transfers: readonly TokenTransfer[], wei: bigint): Address {
  const { coin } = swap.event;
  if (coin === null) throw new UnresolvableEvent("currency_unknown");
  return coin ?? coinOf(swap, transfers, wei) ?? zeroAddress;
}

/** The coin of which one payer paid that much, in one or several transfers; null: ether was paid, or the pool's coin. */
function coinOf(
  { event: { contract: pool }, isSale, range }: Swap,
  transfers: readonly TokenTransfer[],
  wei: bigint,
): Address | null {
  const coins = payments(transfers, range);
  if (!isSale) {
    const paid = coins.find(({ from, amount }) => from === pool && BigInt(amount) === wei);
    return paid?.contract ?? null;
  }
  const paid = coins.find(
    ({ contract, from }) => sumOfAmounts(coins.filter(isOf({ contract, from }))) === wei,
  );
  return paid?.contract ?? null;
}

const isOf =
  ({ contract, from }: Pick<TokenTransfer, "contract" | "from">) =>
  (one: TokenTransfer) =>
    one.contract === contract && one.from === from;

/** Of the first version, whose events name no price: what was paid in the pool's coin. Ether has no log. */
function coinPrice(
  { event: { contract: pool }, isSale, range }: Swap,
  transfers: readonly TokenTransfer[],
): Price {
  const coins = payments(transfers, range);
  const first = coins.find(({ from, to }) => (isSale ? to : from) === pool);
  if (first === undefined) throw new UnresolvableEvent("price_unknown");
  const paid = coins.filter(isOf(first));
  const toSeller = paid.reduce((largest, one) =>
    BigInt(one.amount) > BigInt(largest.amount) ? one : largest,
  );
  const fees = paid
    .filter((one) => one !== toSeller)
    .map(({ to, amount }) => ({ recipient: to, wei: BigInt(amount) }));
  return { currency: first.contract, totalWei: sumOfAmounts(paid), fees };
}

const { erc721, erc1155, erc721WithRoyalty, erc1155WithRoyalty } = sudoswapV2PoolEvents;

/** Factories, and the pools that they create, which are known by `projections/log/recording/pools-and-punks.ts`. */
export const sudoswap: Exchange = {
  protocol: "sudoswap",
  marketplace: "sudoswap",
  sources: [
    sourceOf("sudoswap", "SudoswapV1Factory", sudoswapV1FactoryEvents, []),
    sourceOf("sudoswap", "SudoswapV1", sudoswapV1PoolEvents),
    sourceOf("sudoswap", "SudoswapV2Factory", sudoswapV2FactoryEvents, []),
    sourceOf("sudoswap", "SudoswapV2", erc721),
    sourceOf("sudoswap", "SudoswapV2Erc1155", erc1155),
    sourceOf("sudoswap", "SudoswapV2Royalty", erc721WithRoyalty),
    sourceOf("sudoswap", "SudoswapV2Erc1155Royalty", erc1155WithRoyalty),
  ],
  tradesOf,
};
