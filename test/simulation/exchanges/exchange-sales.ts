import { type Address, keccak256, stringToHex } from "viem";
import { cryptopunksAddress } from "#abis/cryptopunks.ts";
import { chainById } from "#chains/index.ts";
import type { ExchangeEvent, TokenTransfer } from "#projections/exchanges/model/exchange.ts";
import { addressOf } from "#test/support/database/given.ts";
import type { Happening } from "../happening.ts";
import type { Random } from "../random.ts";
import { anyEvent, sources } from "./any-event.ts";
import { type Emitted, type Payment, pool, type Sale } from "./emitted.ts";
import { largeExchanges, paymentProcessor, punkBought } from "./large.ts";
import { mintify, smallExchanges } from "./small.ts";

const people = Array.from({ length: 5 }, (_, index) => addressOf(index));
const contracts = [addressOf(50), addressOf(53)];

const noPrices = ["0", `${10n ** 28n}`];

const everywhere = [paymentProcessor, mintify];
const onEthereum = [...largeExchanges, ...smallExchanges, mintify];

type Placed = { happening: Happening; payments?: readonly Payment[] };

/** A transaction with sales of other exchanges and their tokens' transfers, which do not always fit. */
export function exchangeSales(random: Random, chainId: number): Happening[] {
  const placed: Placed[] = [];
  for (let sales = random.int(1, 5); sales > 0; sales -= 1) {
    const isAny = random.chance(0.35);
    placed.push(...(isAny ? [oneEvent(random, chainId)] : oneSale(random, chainId)));
  }
  return withTransfers(placed);
}

function oneEvent(random: Random, chainId: number): Placed {
  const sender = random.pick(people);
  return { happening: eventOf(anyEvent(random, chainId), sender, chainId, random) };
}

function oneSale(random: Random, chainId: number): Placed[] {
  const emit = random.pick(chainId === 1 ? onEthereum : everywhere);
  const trade = {
    contract: emit === punkBought ? cryptopunksAddress : random.pick(contracts),
    tokenId: BigInt(random.int(0, 4)),
    seller: random.pick(people),
    buyer: random.pick(people),
    wei: random.chance(0.2) ? random.pick(noPrices) : random.pick(["1000", "2500", "9000"]),
    orderHash: keccak256(stringToHex(`sale ${random.int(0, 2 ** 32 - 1)}`)),
  };
  const sale = emit(trade, random);
  const { contract, tokenId, seller, buyer } = trade;
  const to = random.chance(0.9) ? buyer : random.pick(people);
  const from = sale.holder ?? seller;
  const moved: Happening = { kind: "erc721_transfer", contract, tokenId, from, to };
  const events = placeEvents(sale, buyer, chainId, random);
  if (emit === punkBought) return [...events, { happening: { ...moved, subIndex: 1_000_000 } }];
  const transfer = random.chance(0.9) ? [{ happening: moved }] : [];
  const onward = { happening: { ...moved, from: to, to: random.pick(people) } };
  return [
    ...(sale.isDeliveredLast ? [...events, ...transfer] : [...transfer, ...events]),
    ...(random.chance(0.2) ? [onward] : []),
  ];
}

/** The first with what is paid. */
function placeEvents(
  { events, payments = [] }: Sale,
  sender: Address,
  chainId: number,
  random: Random,
): Placed[] {
  return events.map((event, index) => {
    const happening = eventOf(event, sender, chainId, random);
    return { happening, ...(index === 0 ? { payments } : {}) };
  });
}

function eventOf(
  { args, ...emitted }: Emitted,
  sender: Address,
  chainId: number,
  random: Random,
): Happening {
  const chain = chainId === 1 ? 1 : 33139;
  const source = sources.find(({ name }) => name === emitted.source);
  const contract = source?.deployed(chainById(chain))?.addresses?.[0] ?? pool;
  const call = { sender, target: contract, calldataTail: random.pick([null, "0x360c6ebe"]) };
  const broken = random.chance(0.05);
  return {
    kind: "exchange_event",
    contract,
    payload: { ...emitted, args: broken ? {} : args, ...call },
  };
}

/** With the transaction's transfers, their logs counted from the event's. Coins move right before the event. */
function withTransfers(given: readonly Placed[]): Happening[] {
  let log = -1;
  const placed = given.map(({ happening, payments = [] }) => {
    if (happening.subIndex === undefined) log += 1;
    return { happening, log, payments };
  });
  return placed.map(({ happening, log: at }) => {
    if (happening.kind !== "exchange_event") return happening;
    const transfers = placed.flatMap(({ happening: one, log: place, payments }) => [
      ...payments.map((paid) => coinTransfer(paid, place - 1 - at)),
      ...nftTransfer(one, place - at),
    ]);
    return { ...happening, payload: { ...(happening.payload as object), transfers } };
  });
}

const coinTransfer = (paid: Payment, logIndex: number): TokenTransfer => {
  return { ...paid, logIndex, standard: "erc20", tokenId: null };
};

function nftTransfer(
  { kind, contract, from, to, tokenId }: Happening,
  logIndex: number,
): TokenTransfer[] {
  if (kind !== "erc721_transfer" || !from || !to || tokenId === undefined) return [];
  const units = { tokenId: `${tokenId}`, amount: "1" };
  return [{ logIndex, standard: "erc721", contract, from, to, ...units }];
}

/** An event in its place: its transfers' logs are those of the block. */
export function placeTransfers(happening: Happening, logIndex: number): Happening {
  const { transfers } = (happening.payload ?? {}) as Partial<ExchangeEvent>;
  if (transfers === undefined) return happening;
  const inBlock = transfers.map((one) => ({ ...one, logIndex: one.logIndex + logIndex }));
  return { ...happening, payload: { ...(happening.payload as object), transfers: inBlock } };
}
