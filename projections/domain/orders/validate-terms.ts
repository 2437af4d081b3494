import type { Address } from "viem";
import { type IntakeCode, intakeCodes, rejectField } from "#projections/domain/intake-codes.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import type { Leg } from "#projections/domain/seaport/draft-components.ts";
import type { OrderComponents } from "#projections/domain/seaport/order-components.ts";
import type { MarketTerms, OrderBounds, ParsedOrder, TradeFee, TradeTerms } from "./order-terms.ts";

type Times = Pick<OrderComponents, "startTime" | "endTime">;

/**
 * Times are unix seconds. The duration is counted from the start, or from now when the order started
 * more than the clock skew ago, so that an order signed a moment ago for exactly the minimum duration
 * is still valid.
 */
export function validateTimes(
  { startTime, endTime }: Times,
  bounds: OrderBounds,
  nowSeconds: bigint,
): Rejection<IntakeCode> | null {
  if (endTime <= startTime) {
    return refuse("end_before_start", "endTime", `later than startTime ${startTime}`, endTime);
  }
  const skew = BigInt(bounds.clockSkewSeconds);
  const latestStart = nowSeconds + BigInt(bounds.maxStartDelaySeconds) + skew;
  if (startTime > latestStart) {
    return refuse("not_started", "startTime", `at most ${latestStart}`, startTime);
  }
  if (endTime <= nowSeconds) {
    return refuse("order_expired", "endTime", `later than now, ${nowSeconds}`, endTime);
  }
  const from = startTime < nowSeconds - skew ? nowSeconds : startTime;
  return validateDuration(endTime, from, bounds);
}

function validateDuration(endTime: bigint, from: bigint, bounds: OrderBounds) {
  const earliestEnd = from + BigInt(bounds.minDurationSeconds);
  if (endTime < earliestEnd) {
    const expected = `at least ${earliestEnd}, ${bounds.minDurationSeconds} s after ${from}`;
    return refuse("duration_too_short", "endTime", expected, endTime);
  }
  const latestEnd = from + BigInt(bounds.maxDurationSeconds);
  if (endTime > latestEnd) {
    const expected = `at most ${latestEnd}, ${bounds.maxDurationSeconds} s after ${from}`;
    return refuse("duration_too_long", "endTime", expected, endTime);
  }
  return null;
}

function refuse(code: IntakeCode, time: keyof Times, expected: string, actual: bigint) {
  return rejectField(code, { field: `parameters.${time}`, expected, actual: `${actual}` });
}

type Refusal = Rejection<IntakeCode>;

const feeCodes = {
  service: { missing: "fee_missing", to: "fee_wrong_recipient", wei: "fee_wrong_amount" },
  royalty: {
    missing: "royalty_missing",
    to: "royalty_wrong_recipient",
    wei: "royalty_wrong_amount",
  },
} as const;
const precedence = Object.keys(intakeCodes);
const feeLabels = { service: "the service fee", royalty: "the royalty" } as const;

/**
 * Compares the payments to others than the seller with the expected service fee and royalty, each
 * exact per unit and in an item of its own, even if both go to one address or to the maker.
 * An expected fee of 0 wei must have no item.
 */
export function validateFees(
  order: ParsedOrder,
  terms: MarketTerms,
  royalty: { recipient: Address; royaltyWei: bigint } | null,
): { terms: TradeTerms } | Refusal {
  const fee = lowerCase(terms.fee.recipient);
  const feeWei = (order.unitPriceWei * BigInt(terms.fee.bps)) / 10_000n;
  const all: TradeFee[] = [{ kind: "service", recipient: fee, unitWei: feeWei }];
  if (royalty !== null) {
    const recipient = lowerCase(royalty.recipient);
    all.push({ kind: "royalty", recipient, unitWei: royalty.royaltyWei });
  }
  const expectedFees = all.filter(({ unitWei }) => unitWei > 0n);
  const { paid, surplus } = assignLegs(expectedFees, order.feeLegs);
  const rejections = [
    ...surplus.map((leg) => rejectUnexpectedLeg(order, expectedFees, leg, fee)),
    ...expectedFees.map((due) => validateExpectedFee(order, due, paid.get(due.kind))),
    validateSequence(expectedFees, paid),
    validateNet(order, expectedFees),
  ].filter((refusal) => refusal !== null);
  const [first] = rejections.sort(
    (a, b) => precedence.indexOf(a.rejected) - precedence.indexOf(b.rejected),
  );
  return first ?? { terms: tradeTerms(order, expectedFees) };
}

const lowerCase = (address: Address) => address.toLowerCase() as Address;

function validateExpectedFee(
  order: ParsedOrder,
  due: TradeFee,
  leg: IndexedLeg | undefined,
): Refusal | null {
  const code = feeCodes[due.kind];
  const feeText = `${feeLabels[due.kind]}, ${ofPrice(order, due.unitWei)} to ${due.recipient}`;
  if (leg === undefined) {
    return rejectField(code.missing, {
      field: "parameters.consideration",
      expected: `an item of ${due.unitWei * order.quantity} wei to ${due.recipient}`,
      actual: "no such item",
      message: `the consideration must have an item for ${feeText}, and has none`,
    });
  }
  if (leg.recipient !== due.recipient) {
    return rejectField(code.to, {
      field: `${pathOf(leg)}.recipient`,
      expected: due.recipient,
      actual: leg.recipient,
      message: `${pathOf(leg)} must be ${feeText}, and goes to ${leg.recipient}`,
    });
  }
  if (leg.unitWei === due.unitWei) return null;
  return rejectField(code.wei, {
    field: `${pathOf(leg)}.startAmount`,
    expected: `${due.unitWei * order.quantity}`,
    actual: `${leg.unitWei * order.quantity}`,
    message: `${pathOf(leg)} must be ${feeText}, and is ${ofPrice(order, leg.unitWei)}`,
  });
}

/** An item that is neither the service fee nor the royalty. */
function rejectUnexpectedLeg(
  order: ParsedOrder,
  expectedFees: readonly TradeFee[],
  leg: IndexedLeg,
  feeRecipient: Address,
): Refusal {
  const isExpected = (kind: TradeFee["kind"]) => expectedFees.some((due) => due.kind === kind);
  const at = {
    field: pathOf(leg),
    expected: "no such item",
    actual: `${leg.unitWei * order.quantity} wei to ${leg.recipient}`,
  };
  const message = (what: string) => `${pathOf(leg)}, ${at.actual}, ${what}`;
  if (leg.recipient === feeRecipient && leg.recipient !== order.maker && !isExpected("service")) {
    const what = `must be left out: the service fee is 0 wei of ${order.unitPriceWei}`;
    return rejectField("fee_wrong_amount", { ...at, message: message(what) });
  }
  if (leg.recipient !== feeRecipient && leg.recipient !== order.maker && !isExpected("royalty")) {
    const what = "must be left out: no royalty is due";
    return rejectField("royalty_unexpected", { ...at, message: message(what) });
  }
  const what = "must be left out: it is neither the maker's item nor the service fee or royalty";
  return rejectField("unexpected_consideration", { ...at, message: message(what) });
}

/** The order of the params block: the service fee before the royalty. */
function validateSequence(
  [service, royalty]: readonly TradeFee[],
  paid: ReadonlyMap<TradeFee["kind"], IndexedLeg>,
): Refusal | null {
  const [first, second] = [service && paid.get(service.kind), royalty && paid.get(royalty.kind)];
  if (first === undefined || second === undefined || first.index < second.index) return null;
  return rejectField("unexpected_consideration", {
    field: pathOf(second),
    expected: `${feeLabels.service} before ${feeLabels.royalty}`,
    actual: `${feeLabels.royalty} first`,
  });
}

function validateNet(order: ParsedOrder, expectedFees: readonly TradeFee[]): Refusal | null {
  const feesWei = expectedFees.reduce((wei, due) => wei + due.unitWei, 0n);
  if (feesWei < order.unitPriceWei) return null;
  return rejectField("fees_too_high", {
    field: order.side === "ask" ? "parameters.consideration" : "parameters.offer[0].startAmount",
    expected: `a price per unit above ${feesWei} wei`,
    actual: `${order.unitPriceWei}`,
    message: `service fee and royalty, ${feesWei} wei per unit, leave the seller nothing of ${order.unitPriceWei}`,
  });
}

function tradeTerms(order: ParsedOrder, fees: readonly TradeFee[]): TradeTerms {
  const { side, contract, standard, tokenId, criteria, quantity, unitPriceWei, sellerNetWei } =
    order;
  const traded = { side, contract, standard, tokenId, ...(criteria && { criteria }) };
  return { ...traded, quantity, unitPriceWei, sellerNetWei, fees };
}

/** Consideration item 0 is the maker's; the legs follow it. */
const pathOf = ({ index }: IndexedLeg) => `parameters.consideration[${index + 1}]`;

function ofPrice({ unitPriceWei, quantity }: ParsedOrder, unitWei: bigint): string {
  const bps = Number((unitWei * 1_000_000n) / unitPriceWei) / 100;
  const each = quantity === 1n ? "" : ` for each of ${quantity} units`;
  return `${unitWei} wei${each} (${bps} bps of ${unitPriceWei} wei)`;
}

/** A fee leg as signed; `index` is its position among the legs not paid to the seller. */
type IndexedLeg = Leg & { index: number };

/** Ways in which a leg matches an expected fee, best match first; the last one takes any leg in order. */
const matchers: readonly ((fee: TradeFee, leg: Leg) => boolean)[] = [
  (fee, leg) => fee.recipient === leg.recipient && fee.unitWei === leg.unitWei,
  (fee, leg) => fee.recipient === leg.recipient,
  () => true,
];

/** Assigns legs to expected fees, so that a rejection names the leg that is wrong. */
function assignLegs(expectedFees: readonly TradeFee[], legs: readonly Leg[]) {
  const surplus: IndexedLeg[] = legs.map((leg, index) => ({ ...leg, index }));
  const paid = new Map<TradeFee["kind"], IndexedLeg>();
  for (const matches of matchers) {
    for (const fee of expectedFees) {
      const at = paid.has(fee.kind) ? -1 : surplus.findIndex((leg) => matches(fee, leg));
      const [leg] = at < 0 ? [] : surplus.splice(at, 1);
      if (leg !== undefined) paid.set(fee.kind, leg);
    }
  }
  return { paid, surplus };
}
