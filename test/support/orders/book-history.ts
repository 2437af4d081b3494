import { seaportAddresses } from "#abis/deployments.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import type { ChainReading } from "#projections/log/readings.ts";
import { someElsewhere, someSighting } from "#test/simulation/partners.ts";
import type { Random } from "#test/simulation/random.ts";
import { addressOf, block, type ChainEvent, zeroAddress } from "#test/support/database/given.ts";
import {
  approval,
  cancelled,
  channelUpdated,
  counterRaised,
  filled,
  type GivenOrder,
  givenBid,
  givenListing,
  read,
  receivedAt,
  ticked,
  transferred,
} from "./order-facts.ts";
import type { BookStep, Fact } from "./projected-log.ts";

/** Heights of a history. A block comes twelve seconds after the one before. */
export const bookHeights = 9;

export const bookMakers = [addressOf(1), addressOf(2)] as const;
/** Tokens of the first are ERC-721, of the second ERC-1155. */
export const bookContracts = [addressOf(50), addressOf(51)] as const;
export const bookTokens = [1n, 2n] as const;
const [single, many] = bookContracts;

type Elsewhere = { readonly elsewhere?: ChainId };

const someBlock = (random: Random) =>
  block(1, random.int(1, bookHeights), random.chance(0.25) ? "other" : "main");

function commonTerms(random: Random, salt: bigint, { elsewhere }: Elsewhere) {
  const isMany = random.chance(0.5);
  const received = receivedAt + BigInt(random.int(0, 110));
  const isElsewhere = elsewhere !== undefined && random.chance(0.1);
  return {
    ...(isElsewhere && { chainId: elsewhere }),
    maker: random.pick(bookMakers),
    contract: isMany ? many : single,
    standard: isMany ? ("erc1155" as const) : ("erc721" as const),
    quantity: isMany ? BigInt(random.int(1, 4)) : 1n,
    unitPriceWei: BigInt(random.int(1, 3)) * 10_000n,
    counter: random.chance(0.15) ? 1n : 0n,
    receivedAt: received,
    startTime: receivedAt + BigInt(random.chance(0.2) ? random.int(1, 100) : 0),
    endTime: receivedAt + BigInt(random.int(60, 160)),
    salt,
  };
}

function someListing(random: Random, salt: bigint, chains: Elsewhere): GivenOrder {
  const give = random.chance(0.5) ? givenListing : someElsewhere(random);
  return give({ ...commonTerms(random, salt, chains), tokenId: random.pick(bookTokens) });
}

function someBid(random: Random, salt: bigint, chains: Elsewhere): GivenOrder {
  const subject = random.pick([
    { tokenId: random.pick(bookTokens) },
    {},
    { tokenIds: random.shuffle([...bookTokens, 3n, 1_024n]).slice(0, random.int(1, 3)) },
  ]);
  return givenBid({ ...commonTerms(random, salt, chains), ...subject });
}

/** The position of the next event: unique. */
function placing(random: Random) {
  let log = 0;
  return () => {
    log += 1;
    return { at: someBlock(random), log };
  };
}
type Place = ReturnType<typeof placing>;

function someMoney(random: Random, place: Place): ChainEvent {
  const { at, log } = place();
  const maker = random.pick(bookMakers);
  const common = { contract: wrappedNative[1], block: at, logIndex: log } as const;
  const amount = BigInt(random.int(0, 9)) * 10_000n;
  return random.pick<ChainEvent>([
    { ...common, kind: "wrapped_deposit", to: maker, amount },
    { ...common, kind: "wrapped_deposit", to: maker, amount },
    { ...common, kind: "wrapped_withdrawal", from: maker, amount },
    { ...common, kind: "erc20_transfer", from: maker, to: random.pick(bookMakers), amount },
    { ...common, kind: "erc20_approval", from: maker, to: seaportAddresses["1.6"], amount },
    {
      ...{ ...common, kind: "erc20_approval", from: maker, to: seaportAddresses["1.6"] },
      amount: random.chance(0.5) ? 2n ** 256n - 1n : 40_000n,
    },
  ]);
}

function someReading(random: Random, order: GivenOrder): ChainReading {
  const [maker, owner] = [random.pick(bookMakers), random.pick(bookMakers)];
  const [contract, tokenId] = [random.pick(bookContracts), random.pick(bookTokens)];
  const { orderHash } = order;
  const holds = random.chance(0.6);
  const units = BigInt(random.int(0, Number(order.quantity)));
  const wei = BigInt(random.int(0, 9)) * 10_000n;
  const currency = wrappedNative[1];
  return random.pick<ChainReading>([
    {
      ...{ kind: "order_status_read", orderHash, cancelled: random.chance(0.05), filled: units },
      size: units === 0n ? 0n : order.quantity,
    },
    { kind: "counter_read", maker, counter: random.chance(0.2) ? 1n : 0n },
    { kind: "approval_read", contract, owner, approved: holds },
    { kind: "owner_read", contract, tokenId, owner: holds ? owner : null },
    { kind: "units_read", contract, tokenId, owner, units: BigInt(random.int(0, 5)) },
    { kind: "transfer_read", contract, tokenId, owner, allowed: holds },
    { kind: "token_approval_read", contract: single, tokenId, approved: holds },
    { kind: "signature_read", orderHash, maker, valid: holds },
    {
      ...{ kind: "recipients_read", orderHash, recipients: [maker, owner] },
      refusing: holds ? null : owner,
    },
    { kind: "channel_read", open: random.chance(0.85) },
    { kind: "balance_read", currency, owner, wei },
    { kind: "allowance_read", currency, owner, wei },
  ]);
}

function someEvent(random: Random, order: GivenOrder, place: Place): Fact {
  const [from, to] = [random.pick([...bookMakers, zeroAddress]), random.pick(bookMakers)];
  const [maker, tokenId] = [random.pick(bookMakers), random.pick(bookTokens)];
  const units = BigInt(random.int(1, 4));
  const buyer = random.pick([...bookMakers, addressOf(0xb0b)]);
  return random.pick<() => Fact>([
    () => transferred({ contract: single, from, to, tokenId }, place()),
    () =>
      transferred({ contract: single, from, to: random.pick([to, zeroAddress]), tokenId }, place()),
    () => transferred({ contract: many, from, to, tokenId, units }, place()),
    () => transferred({ contract: many, to, tokenId, units }, place()),
    () => ({
      ...transferred({ contract: random.pick(bookContracts), from, to, tokenId }, place()),
      ...{ kind: "erc721_consecutive_transfer", amount: units },
    }),
    () => approval(random.pick(bookContracts), maker, random.chance(0.8), place()),
    () => approval(random.pick(bookContracts), maker, true, place()),
    () => filled(order, BigInt(random.int(1, Number(order.quantity))), place(), buyer),
    () => (random.chance(0.3) ? cancelled(order, place()) : someMoney(random, place)),
    () => someMoney(random, place),
    () =>
      random.chance(0.15)
        ? counterRaised(maker, BigInt(random.int(1, 2)), place())
        : transferred({ contract: many, to: maker, tokenId, units }, place()),
    () => channelUpdated(random.chance(0.85), place()),
  ])();
}

/** Makers hold tokens, have approved the conduit and have money, so that orders start as active. */
function stock(place: Place): Fact[] {
  return bookMakers.flatMap((to, index) => {
    const tokenId = bookTokens[index] ?? 1n;
    const exchange = seaportAddresses["1.6"];
    const money = () => {
      const { at, log } = place();
      return { contract: wrappedNative[1], block: at, logIndex: log } as const;
    };
    return [
      approval(single, to, true, place()),
      approval(many, to, true, place()),
      transferred({ contract: single, to, tokenId }, place()),
      ...bookTokens.map((id) =>
        transferred({ contract: many, to, tokenId: id, units: 4n }, place()),
      ),
      { ...money(), kind: "wrapped_deposit" as const, to, amount: 100_000n },
      { ...money(), kind: "erc20_approval" as const, from: to, to: exchange, amount: 100_000n },
    ];
  });
}

/**
 * Facts of every kind that listings and bids rest on, in an order that no chain would tell them in. `elsewhere`: the chain of a
 * tenth of the orders; the others are of chain 1.
 */
export function bookHistory(random: Random, length: number, chains: Elsewhere = {}): BookStep[] {
  const place = placing(random);
  const orders = Array.from({ length: 32 }, (_, index) => {
    const give = random.chance(0.6) ? someListing : someBid;
    return give(random, BigInt(index), chains);
  });
  const waiting = random.shuffle(orders);
  const happen = () => ({ facts: [someEvent(random, random.pick(orders), place)] });
  const submit = (): BookStep => {
    const next = waiting.pop();
    if (next === undefined) return happen();
    // One set may be of several bids: it was there before them.
    const sets = next.tokenSet ? [{ ...next.tokenSet, recordedAt: new Date(0) }] : [];
    return { facts: [...sets, next.submitted] };
  };
  const asks = orders.filter(({ terms }) => terms.side === "ask");
  const show = () => ({ facts: someSighting(random, random.pick(asks)) });
  const observe = () => ({
    facts: [read(someReading(random, random.pick(orders)), someBlock(random))],
  });
  const reorganize = () => ({ block: someBlock(random), isRetracted: random.chance(0.5) });
  const tick = () => ({ facts: [ticked(receivedAt + BigInt(random.int(0, 200)))] });
  const turns = [submit, submit, submit, happen, happen, happen, show, observe, reorganize, tick];
  return [
    { facts: stock(place) },
    ...Array.from({ length }, () => random.pick<() => BookStep>(turns)()),
  ];
}

/**
 * What a log is that was stopped at a height: events and readings of the blocks up to it that are not retracted in the end, in the
 * order in which they came, what was received by a time, and no other clock than it.
 */
export function stoppedFacts(
  history: readonly BookStep[],
  stop: { height: number; clock: bigint },
): Fact[] {
  const retracted = retractedHashes(history);
  const seen = new Set<string>();
  const facts = history.flatMap((step) => ("facts" in step ? step.facts : []));
  const kept = facts.filter((fact) => {
    if (!("identity" in fact)) return true;
    const isNew = !seen.has(fact.identity);
    seen.add(fact.identity);
    return isNew;
  });
  return [...kept.filter((fact) => isBefore(stop, fact, retracted)), ticked(stop.clock)];
}

/** Hashes of blocks that are retracted in the end: only what the log has can leave the chain. */
function retractedHashes(history: readonly BookStep[]): Set<string> {
  const [known, gone] = [new Set<string>(), new Set<string>()];
  for (const step of history) {
    if ("facts" in step) for (const fact of step.facts) known.add(blockOf(fact)?.hash ?? "");
    else if (!known.has(step.block.hash)) continue;
    else if (step.isRetracted) gone.add(step.block.hash);
    else gone.delete(step.block.hash);
  }
  return gone;
}

function isBefore(
  { height, clock }: { height: number; clock: bigint },
  fact: Fact,
  retracted: ReadonlySet<string>,
): boolean {
  const block = blockOf(fact);
  if (block !== undefined) return block.number <= height && !retracted.has(block.hash);
  if (fact.kind === "clock_ticked" || !("identity" in fact)) return false;
  return fact.recordedAt.getTime() <= Number(clock) * 1_000;
}

function blockOf(fact: Fact): { number: number; hash: string } | undefined {
  if (!("identity" in fact)) return fact.block;
  const { basis } = fact;
  return basis && { number: Number(basis.number), hash: basis.hash };
}
