import type { Address } from "viem";
import type { Rejection } from "../rejection.ts";
import { assignLegs, type TakenLeg } from "./assign-legs.ts";
import { type IntakeCode, intakeCodes } from "./intake-codes.ts";
import type { MarketTerms } from "./market-terms.ts";
import type { RecognizedOrder } from "./recognized-order.ts";
import { refuseField } from "./refuse-field.ts";
import type { TradeFee, TradeTerms } from "./trade-terms.ts";

type Refusal = Rejection<IntakeCode>;

const codes = {
  service: { missing: "fee_missing", to: "fee_wrong_recipient", wei: "fee_wrong_amount" },
  royalty: {
    missing: "royalty_missing",
    to: "royalty_wrong_recipient",
    wei: "royalty_wrong_amount",
  },
} as const;
const precedence = Object.keys(intakeCodes);
const nameOf = { service: "the service fee", royalty: "the royalty" } as const;

/**
 * Compares what an order pays to others than the seller with what is due: service fee and royalty,
 * each exact per unit and in an item of its own, also where both go to one address or to the maker.
 * What is due of 0 wei has no item.
 */
export function judgeFees(
  order: RecognizedOrder,
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
  const dues = all.filter(({ unitWei }) => unitWei > 0n);
  const { paid, surplus } = assignLegs(dues, order.taken);
  const refused = [
    ...surplus.map((leg) => refuseSurplus(order, dues, leg, fee)),
    ...dues.map((due) => judgeDue(order, due, paid.get(due.kind))),
    judgeNet(order, dues),
  ].filter((refusal) => refusal !== null);
  const [first] = refused.sort(
    (a, b) => precedence.indexOf(a.rejected) - precedence.indexOf(b.rejected),
  );
  return first ?? { terms: tradeTerms(order, dues) };
}

const lowerCase = (address: Address) => address.toLowerCase() as Address;

function judgeDue(
  order: RecognizedOrder,
  due: TradeFee,
  leg: TakenLeg | undefined,
): Refusal | null {
  const code = codes[due.kind];
  const dueText = `${nameOf[due.kind]}, ${ofPrice(order, due.unitWei)} to ${due.recipient}`;
  if (leg === undefined) {
    return refuseField(code.missing, {
      field: "parameters.consideration",
      expected: `an item of ${due.unitWei * order.quantity} wei to ${due.recipient}`,
      actual: "no such item",
      because: `the consideration must have an item for ${dueText}, and has none`,
    });
  }
  if (leg.recipient !== due.recipient) {
    return refuseField(code.to, {
      field: `${pathOf(leg)}.recipient`,
      expected: due.recipient,
      actual: leg.recipient,
      because: `${pathOf(leg)} must be ${dueText}, and goes to ${leg.recipient}`,
    });
  }
  if (leg.unitWei === due.unitWei) return null;
  return refuseField(code.wei, {
    field: `${pathOf(leg)}.startAmount`,
    expected: `${due.unitWei * order.quantity}`,
    actual: `${leg.unitWei * order.quantity}`,
    because: `${pathOf(leg)} must be ${dueText}, and is ${ofPrice(order, leg.unitWei)}`,
  });
}

/** An item that nothing due explains. */
function refuseSurplus(
  order: RecognizedOrder,
  dues: readonly TradeFee[],
  leg: TakenLeg,
  feeRecipient: Address,
): Refusal {
  const isDue = (kind: TradeFee["kind"]) => dues.some((due) => due.kind === kind);
  const at = {
    field: pathOf(leg),
    expected: "no such item",
    actual: `${leg.unitWei * order.quantity} wei to ${leg.recipient}`,
  };
  const because = (what: string) => `${pathOf(leg)}, ${at.actual}, ${what}`;
  if (leg.recipient === feeRecipient && leg.recipient !== order.maker && !isDue("service")) {
    const what = `must be left out: the service fee is 0 wei of ${order.unitPriceWei}`;
    return refuseField("fee_wrong_amount", { ...at, because: because(what) });
  }
  if (leg.recipient !== feeRecipient && leg.recipient !== order.maker && !isDue("royalty")) {
    const what = "must be left out: no royalty is due";
    return refuseField("royalty_unexpected", { ...at, because: because(what) });
  }
  const what = "must be left out: it is neither the maker's item nor the service fee or royalty";
  return refuseField("unexpected_consideration", { ...at, because: because(what) });
}

function judgeNet(order: RecognizedOrder, dues: readonly TradeFee[]): Refusal | null {
  const takenWei = dues.reduce((wei, due) => wei + due.unitWei, 0n);
  if (takenWei < order.unitPriceWei) return null;
  return refuseField("fees_too_high", {
    field: order.side === "ask" ? "parameters.consideration" : "parameters.offer[0].startAmount",
    expected: `a price per unit above ${takenWei} wei`,
    actual: `${order.unitPriceWei}`,
    because: `service fee and royalty, ${takenWei} wei per unit, leave the seller nothing of ${order.unitPriceWei}`,
  });
}

function tradeTerms(order: RecognizedOrder, fees: readonly TradeFee[]): TradeTerms {
  const { side, contract, standard, tokenId, quantity, unitPriceWei, sellerNetWei } = order;
  return { side, contract, standard, tokenId, quantity, unitPriceWei, sellerNetWei, fees };
}

/** The item of the maker stands before the legs. */
const pathOf = ({ index }: TakenLeg) => `parameters.consideration[${index + 1}]`;

function ofPrice({ unitPriceWei, quantity }: RecognizedOrder, unitWei: bigint): string {
  const bps = Number((unitWei * 1_000_000n) / unitPriceWei) / 100;
  const each = quantity === 1n ? "" : ` for each of ${quantity} units`;
  return `${unitWei} wei${each} (${bps} bps of ${unitPriceWei} wei)`;
}
