import { type Address, type Hex, keccak256, stringToHex, zeroHash } from "viem";
import { cryptopunks } from "../../abis/cryptopunks.ts";
import { exchanges } from "../../projections/exchanges/exchanges.ts";
import { factories } from "../../projections/exchanges/sudoswap/trades.ts";
import type { ExchangeEvent } from "../../projections/facts/exchange-event.ts";
import type { TokenTransfer } from "../../projections/facts/token-transfer.ts";
import { addressOf, zeroAddress } from "../support/database/given.ts";
import type { Happening } from "./happening.ts";
import type { Random } from "./random.ts";

type Trade = {
  contract: Address;
  tokenId: bigint;
  seller: Address;
  buyer: Address;
  wei: string;
  orderHash: Hex;
};
type Emitted = Pick<ExchangeEvent, "source" | "event" | "args" | "bid" | "factory">;

const people = Array.from({ length: 5 }, (_, index) => addressOf(index));
const contracts = [addressOf(50), addressOf(53)];
const pool = addressOf(70);

/** A packed word: two parties or prices in one integer. */
const packed = (high: bigint, low: Address, shift = 160n) => `${(high << shift) | BigInt(low)}`;

const blurPacked = ({ tokenId, seller, contract, wei, orderHash }: Trade): Emitted => ({
  ...{ source: "BlurV2", event: "Execution721Packed" },
  args: {
    orderHash,
    tokenIdListingIndexTrader: packed(tokenId << 8n, seller),
    collectionPriceSide: packed(BigInt(wei) % (1n << 88n), contract),
  },
});

const paymentProcessor = ({ contract, tokenId, seller, buyer, wei }: Trade): Emitted => ({
  ...{ source: "PaymentProcessor", event: "BuyListingERC721" },
  args: {
    ...{ buyer, seller, tokenAddress: contract, beneficiary: buyer, paymentCoin: zeroAddress },
    ...{ tokenId: `${tokenId}`, salePrice: wei },
  },
});

const looksrare = ({ contract, tokenId, seller, buyer, wei, orderHash }: Trade): Emitted => ({
  ...{ source: "LooksRareV2", event: "TakerBid" },
  args: {
    nonceInvalidationParameters: { orderHash },
    ...{ bidUser: buyer, bidRecipient: buyer, currency: addressOf(80), collection: contract },
    ...{ itemIds: [`${tokenId}`], amounts: ["1"], feeRecipients: [seller, addressOf(98)] },
    feeAmounts: [wei, "5", "1"],
  },
});

const foundation = ({ contract, tokenId, seller, buyer, wei }: Trade): Emitted => ({
  ...{ source: "Foundation", event: "BuyPriceAccepted" },
  args: {
    ...{ nftContract: contract, tokenId: `${tokenId}`, seller, buyer },
    ...{ protocolFee: "5", creatorFee: "10", sellerRev: wei },
  },
});

/** Neither token nor currency: what moved before. */
const wyvern = ({ seller, buyer, wei, orderHash }: Trade): Emitted => ({
  ...{ source: "WyvernV2", event: "OrdersMatched" },
  args: { buyHash: zeroHash, sellHash: orderHash, maker: seller, taker: buyer, price: wei },
});

/** A pool that somebody made up, now and then. */
const sudoswap = ({ tokenId, wei }: Trade, random: Random): Emitted => ({
  ...{ source: "SudoswapV2", event: "SwapNFTOutPair" },
  args: { amountIn: wei, ids: [`${tokenId}`] },
  factory: random.chance(0.8) ? factories["2"] : null,
});

/** A bid that was taken: the event says zero. */
const punkBought = ({ tokenId, seller, buyer, wei }: Trade): Emitted => ({
  ...{ source: "CryptoPunks", event: "PunkBought" },
  args: { punkIndex: `${tokenId}`, value: "0", fromAddress: seller, toAddress: zeroAddress },
  bid: { bidder: buyer, wei },
});

const seaportFork = (trade: Trade): Emitted => {
  const { contract, tokenId, seller, buyer, wei, orderHash } = trade;
  const offer = [{ itemType: 2, token: contract, identifier: `${tokenId}`, amount: "1" }];
  const money = { itemType: 0, token: zeroAddress, identifier: "0", amount: wei };
  const consideration = [{ ...money, recipient: seller }];
  const parties = { offerer: seller, zone: zeroAddress, recipient: buyer };
  const args = { orderHash, ...parties, offer, consideration };
  return { source: "Mintify", event: "OrderFulfilled", args };
};

const everywhere = [paymentProcessor, seaportFork];
const onEthereum = [blurPacked, looksrare, foundation, wyvern, sudoswap, punkBought];

/** A transaction with sales of other exchanges and their tokens' transfers, which do not always fit. */
export function exchangeSales(random: Random, chainId: number): Happening[] {
  const happenings: Happening[] = [];
  for (let sales = random.int(1, 3); sales > 0; sales -= 1) {
    happenings.push(...oneSale(random, chainId));
  }
  return withTransfers(happenings);
}

function oneSale(random: Random, chainId: number): Happening[] {
  const emit = random.pick(chainId === 1 ? [...onEthereum, ...everywhere] : everywhere);
  const trade = {
    contract: emit === punkBought ? cryptopunks : random.pick(contracts),
    tokenId: BigInt(random.int(0, 4)),
    seller: emit === sudoswap ? pool : random.pick(people),
    buyer: random.pick(people),
    wei: random.pick(["0", "1000", "2500", "9000", `${10n ** 28n}`]),
    orderHash: keccak256(stringToHex(`sale ${random.int(0, 2 ** 32 - 1)}`)),
  };
  const { contract, tokenId, seller, buyer } = trade;
  const to = random.chance(0.9) ? buyer : random.pick(people);
  const moved: Happening = { kind: "erc721_transfer", contract, tokenId, from: seller, to };
  const sold = eventOf(emit(trade, random), buyer, chainId, random);
  if (emit === punkBought) return [sold, { ...moved, subIndex: 1_000_000 }];
  const onward = { ...moved, from: to, to: random.pick(people) };
  const before = random.chance(0.9) ? [moved] : [];
  return [...before, sold, ...(random.chance(0.2) ? [onward] : [])];
}

function eventOf(
  { args, ...emitted }: Emitted,
  sender: Address,
  chainId: number,
  random: Random,
): Happening {
  const chain = chainId === 1 ? 1 : 33139;
  const source = exchanges.flatMap(({ sources }) => sources).find(isNamed(emitted.source));
  const contract = source?.chains[chain]?.addresses?.[0] ?? pool;
  const call = { sender, target: contract, calldataTail: random.pick([null, "0x360c6ebe"]) };
  const broken = random.chance(0.05);
  return {
    kind: "exchange_event",
    contract,
    payload: { ...emitted, args: broken ? {} : args, ...call },
  };
}

const isNamed =
  (wanted: string) =>
  ({ name }: { name: string }) =>
    name === wanted;

/** With the transaction's transfers, their logs counted from the event's. */
function withTransfers(happenings: readonly Happening[]): Happening[] {
  let log = -1;
  const placed = happenings.map((happening) => {
    if (happening.subIndex === undefined) log += 1;
    return { happening, log };
  });
  return placed.map(({ happening, log: at }) => {
    if (happening.kind !== "exchange_event") return happening;
    const transfers = placed.flatMap(({ happening: one, log: place }): TokenTransfer[] => {
      const { kind, contract, from, to, tokenId } = one;
      if (kind !== "erc721_transfer" || !from || !to || tokenId === undefined) return [];
      const standard = "erc721" as const;
      const units = { tokenId: `${tokenId}`, amount: "1" };
      return [{ logIndex: place - at, standard, contract, from, to, ...units }];
    });
    return { ...happening, payload: { ...(happening.payload as object), transfers } };
  });
}

/** An event in its place: its transfers' logs are those of the block. */
export function placeTransfers(happening: Happening, logIndex: number): Happening {
  const { transfers } = (happening.payload ?? {}) as Partial<ExchangeEvent>;
  if (transfers === undefined) return happening;
  const inBlock = transfers.map((one) => ({ ...one, logIndex: one.logIndex + logIndex }));
  return { ...happening, payload: { ...(happening.payload as object), transfers: inBlock } };
}
