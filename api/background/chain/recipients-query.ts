import { type Address, slice, zeroAddress } from "viem";
import { seaport } from "#abis/deployments.ts";
import { type ConsiderationItem, callsRecipient, itemType } from "#projections/domain/seaport/order-components.ts";
import type { CallOutcome, ChainCall } from "./calls/chain-call.ts";
import type { QueryByKind } from "./chain-query.ts";
import type { ReadBasis } from "./contract-calls.ts";
import { codeCodec } from "./contract-queries.ts";
import { hasReturned, type OutcomeLookup, type QueryCodec } from "./query-codec.ts";
import { isAccepted, receivedCall } from "./receipt-query.ts";

type Recipients = QueryByKind["recipients_read"];

/**
 * Whether the contracts among an order's recipients take what it gives them: ether by a simulated payment of the exchange,
 * units of a given ERC-1155 token by their `onERC1155Received`. An account without code takes all; ERC-20 currencies and
 * ERC-721 tokens are transferred without a call of the recipient. A node that cannot give the exchange the ether it pays
 * gives no result: the same payment to nobody would fail, too.
 */
export const recipientsCodec: QueryCodec<"recipients_read"> = {
  encode: (query, basis) =>
    itemsOf(query).flatMap((item) => codeCodec.encode(codeOf(item.recipient), basis)),
  encodeFollowUp(query, lookUp, basis) {
    const called = itemsOf(query).filter((item) => hasCode(item, lookUp, basis));
    const deliveries = called.map((item) => deliveryOf(item, basis));
    return called.some(isPayment) ? [paymentToNobody, ...deliveries] : deliveries;
  },
  decode(query, lookUp, basis) {
    const items = itemsOf(query);
    const codes = items.map((item) => hasCode(item, lookUp, basis));
    if (codes.includes(undefined)) return undefined;
    const called = items.filter((_, index) => codes[index]);
    const canPay = hasReturned(lookUp(paymentToNobody)) === true;
    const taken = called.map((item) =>
      isPayment(item) && !canPay ? undefined : isTaken(item, lookUp(deliveryOf(item, basis))),
    );
    const refusing = called[taken.indexOf(false)]?.recipient ?? null;
    if (refusing === null && taken.includes(undefined)) return undefined;
    const recipients = [...new Set(called.map(({ recipient }) => recipient))];
    return { kind: query.kind, orderHash: query.orderHash, recipients, refusing };
  },
};

const itemsOf = ({ order }: Recipients) => order.components.consideration.filter(callsRecipient);

const codeOf = (address: Address) => ({ kind: "code", address }) as const;

const hasCode = ({ recipient }: ConsiderationItem, lookUp: OutcomeLookup, basis: ReadBasis) =>
  codeCodec.decode(codeOf(recipient), lookUp, basis)?.hasCode;

const isPayment = (item: ConsiderationItem) => item.itemType === itemType.native;

/** More than there is. */
const paymentToNobody: ChainCall = {
  to: zeroAddress,
  from: seaport["1.6"],
  data: "0x",
  value: 10n ** 30n,
};

function deliveryOf(item: ConsiderationItem, { hash }: ReadBasis): ChainCall {
  const { recipient, token, identifierOrCriteria, startAmount } = item;
  if (isPayment(item))
    return { to: recipient, from: seaport["1.6"], data: "0x", value: startAmount };
  // From nobody in particular: who sells is not known.
  const sale = { owner: slice(hash, 12), tokenId: identifierOrCriteria, units: startAmount };
  return receivedCall({ contract: token, recipient, ...sale });
}

function isTaken(item: ConsiderationItem, outcome: CallOutcome): boolean | undefined {
  if (outcome === undefined) return undefined;
  return isPayment(item) ? hasReturned(outcome) : isAccepted(outcome);
}
