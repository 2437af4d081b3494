import { type Address, type Hex, parseAbi, slice, zeroAddress } from "viem";
import { commonConduit, conduitController, seaportAddresses } from "#abis/deployments.ts";
import { conduitAbi, seaportFunctions } from "#abis/seaport.ts";
import { orderParameters } from "#projections/domain/seaport/fill.ts";
import {
  type ConsiderationItem,
  callsRecipient,
  itemType,
} from "#projections/domain/seaport/order-components.ts";
import {
  type DetectedStandard,
  hasReturned,
  isUnknown,
  type OutcomeLookup,
  type QueryByKind,
  type QueryCodec,
  type ResultByKind,
  singleCallCodec,
  wordOf,
} from "./chain-query.ts";
import {
  addressInWord,
  type ChainCall,
  type ChainCallOutcome,
  encodeCall,
  type ReadBasis,
} from "./contract-calls.ts";

export const codeCodec = singleCallCodec<"code">(
  ({ address }) => ({ codeOf: address }),
  (query, outcome) =>
    "reverted" in outcome ? undefined : { ...query, hasCode: outcome.returned !== "0x" },
);

/** `isValidSignature` and what it returns for a valid one, in the first bytes of a word. */
const validWord = 0x1626ba7en << 224n;

/** An account without code returns nothing, and accepts no signature. */
export const messageCodec = singleCallCodec<"message">(
  ({ wallet, hash, signature }) => ({
    to: wallet,
    data: encodeCall({
      abi: inquiryAbi,
      functionName: "isValidSignature",
      args: [hash, signature],
    }),
  }),
  (query, outcome) => ({ ...query, valid: wordOf(outcome) === validWord }),
);

/** The ERC-2981 royalty, if it can be paid: to a recipient, and at most the price. */
export const royaltyCodec = singleCallCodec<"royalty">(
  ({ contract, tokenId, salePriceWei }) => ({
    to: contract,
    data: encodeCall({
      abi: inquiryAbi,
      functionName: "royaltyInfo",
      args: [tokenId, salePriceWei],
    }),
  }),
  (query, outcome) => {
    const recipient = addressInWord(wordOf(outcome, 0));
    const royaltyWei = wordOf(outcome, 1);
    const isPayable =
      recipient !== null && royaltyWei !== undefined && royaltyWei <= query.salePriceWei;
    return { ...query, royalty: isPayable ? { recipient, royaltyWei } : null };
  },
);

/** ERC-165 ids; the last is invalid by definition, so a contract that claims it is not trustworthy. */
const interfaceIds = { erc721: "0x80ac58cd", erc1155: "0xd9b67a26", none: "0xffffffff" } as const;

export const standardCodec: QueryCodec<"standard"> = {
  encode: ({ contract }) => Object.values(interfaceIds).map((id) => supportCall(contract, id)),
  decode({ kind, contract }, lookUp) {
    const found = standardOf(contract, lookUp);
    return found === undefined ? undefined : { kind, contract, ...found };
  },
};

function standardOf(contract: Address, lookUp: OutcomeLookup): DetectedStandard | undefined {
  const outcomeOf = (id: Hex): ChainCallOutcome => lookUp(supportCall(contract, id));
  const outcomes = [
    outcomeOf(interfaceIds.erc721),
    outcomeOf(interfaceIds.erc1155),
    outcomeOf(interfaceIds.none),
  ];
  // One that uses up all gas says nothing: neither that it declares a standard nor that it declares none.
  if (outcomes.some(isUnknown)) return undefined;
  const [erc721, erc1155, none] = outcomes.map((outcome) => wordOf(outcome));
  if (none === 1n || (erc721 === 1n && erc1155 === 1n)) {
    return { standard: null, reason: "contradictory" };
  }
  if (erc721 === 1n) return { standard: "erc721" };
  if (erc1155 === 1n) return { standard: "erc1155" };
  return { standard: null, reason: erc721 === 0n && erc1155 === 0n ? "neither" : "no_erc165" };
}

const supportCall = (contract: Address, id: Hex): ChainCall => ({
  to: contract,
  data: encodeCall({ abi: inquiryAbi, functionName: "supportsInterface", args: [id] }),
});

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
  from: seaportAddresses["1.6"],
  data: "0x",
  value: 10n ** 30n,
};

function deliveryOf(item: ConsiderationItem, { hash }: ReadBasis): ChainCall {
  const { recipient, token, identifierOrCriteria, startAmount } = item;
  if (isPayment(item))
    return { to: recipient, from: seaportAddresses["1.6"], data: "0x", value: startAmount };
  // From nobody in particular: who sells is not known.
  const sale = { owner: slice(hash, 12), tokenId: identifierOrCriteria, units: startAmount };
  return receivedCall({ contract: token, recipient, ...sale });
}

function isTaken(item: ConsiderationItem, outcome: ChainCallOutcome): boolean | undefined {
  if (outcome === undefined) return undefined;
  return isPayment(item) ? hasReturned(outcome) : isAccepted(outcome);
}

type Receipt = QueryByKind["receipt"];

/** `onERC1155Received`'s selector, which a recipient returns that takes the units: in the first four bytes. */
const accepted = 0xf23a6e61n;

/**
 * Whether a recipient takes units of an ERC-1155 token that the conduit transfers: an account without code takes all, a
 * contract what its `onERC1155Received` confirms. Called from the token's contract, as in a transfer, so that neither
 * the seller's approval nor its holding matters.
 */
export const receiptCodec: QueryCodec<"receipt"> = {
  encode: (query, basis) => codeCodec.encode(codeOfRecipient(query), basis),
  encodeFollowUp: (query, lookUp, basis) =>
    codeCodec.decode(codeOfRecipient(query), lookUp, basis)?.hasCode ? [receivedCall(query)] : [],
  decode(query, lookUp, basis) {
    const code = codeCodec.decode(codeOfRecipient(query), lookUp, basis);
    if (code === undefined) return undefined;
    const taken = !code.hasCode || areUnitsTaken(query, lookUp);
    return taken === undefined ? undefined : { ...query, taken };
  },
};

const codeOfRecipient = ({ recipient }: Receipt) => ({ kind: "code", address: recipient }) as const;

function areUnitsTaken(query: Receipt, lookUp: OutcomeLookup): boolean | undefined {
  const outcome: ChainCallOutcome = lookUp(receivedCall(query));
  return outcome && isAccepted(outcome);
}

/** Whether an outcome of `receivedCall` is that of a recipient that takes the units. */
const isAccepted = (outcome: ChainCallOutcome): boolean =>
  (wordOf(outcome) ?? 0n) >> 224n === accepted;

function receivedCall(receipt: Omit<Receipt, "kind">): ChainCall {
  const { contract, tokenId, owner, recipient, units } = receipt;
  const data = encodeCall({
    abi: erc1155ReceiverAbi,
    functionName: "onERC1155Received",
    args: [commonConduit.address, owner, tokenId, units, "0x"],
  });
  return { to: recipient, from: contract, data };
}

/** ERC-165 and ERC-2981. */
const inquiryAbi = parseAbi([
  "function supportsInterface(bytes4 interfaceId) view returns (bool)",
  "function royaltyInfo(uint256 tokenId, uint256 salePrice) view returns (address receiver, uint256 royaltyAmount)",
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);

/** What an ERC-1155 contract calls of a recipient that is a contract. */
const erc1155ReceiverAbi = parseAbi([
  "function onERC1155Received(address operator, address from, uint256 id, uint256 value, bytes data) returns (bytes4)",
]);

const exchange = seaportAddresses["1.6"];

export const orderStatusCodec = singleCallCodec<"order_status_read">(
  ({ orderHash }) => ({
    to: exchange,
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "getOrderStatus",
      args: [orderHash],
    }),
  }),
  (query, outcome) => {
    const [validated, cancelled, filled, size] = [0, 1, 2, 3].map((index) =>
      wordOf(outcome, index),
    );
    if (cancelled === undefined || filled === undefined || size === undefined) return undefined;
    return { ...query, validated: validated === 1n, cancelled: cancelled === 1n, filled, size };
  },
);

export const counterCodec = singleCallCodec<"counter_read">(
  ({ maker }) => ({
    to: exchange,
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "getCounter",
      args: [maker],
    }),
  }),
  (query, outcome) => {
    const counter = wordOf(outcome);
    return counter === undefined ? undefined : { ...query, counter };
  },
);

/** The conduit controller reverts for a conduit that does not exist. */
export const channelCodec = singleCallCodec<"channel_read">(
  () => ({
    to: conduitController,
    data: encodeCall({
      abi: conduitAbi,
      functionName: "getChannelStatus",
      args: [commonConduit.address, exchange],
    }),
  }),
  (query, outcome) => {
    if ("reverted" in outcome) return { ...query, open: false };
    const open = wordOf(outcome);
    return open === undefined ? undefined : { ...query, open: open === 1n };
  },
);

/** Contract wallets may need much gas to verify a signature. */
const gas = 5_000_000n;

/**
 * Whether the exchange accepts a signature of any form, by a static call of `validate`. It hashes the order with the
 * maker's current counter, and rejects an ended order before it verifies the signature: of an order with another counter
 * and of an ended one the result is unknown. Of any other order a revert means that the signature was refused, whatever
 * its data: the exchange passes on what the maker's contract reverts with, which may imitate the exchange's own errors.
 */
export const signatureCodec: QueryCodec<"signature_read"> = {
  encode: (query, basis) => [
    validateCall(query),
    ...counterCodec.encode(counterOf(query), basis),
    ...orderStatusCodec.encode(statusOf(query), basis),
  ],
  decode(query, lookUp, basis) {
    const { kind, orderHash, maker, order } = query;
    const read = counterCodec.decode(counterOf(query), lookUp, basis);
    const status = orderStatusCodec.decode(statusOf(query), lookUp, basis);
    if (read?.counter !== order.components.counter) return undefined;
    if (status === undefined || hasEnded(status)) return undefined;
    const valid = isSignatureAccepted(lookUp(validateCall(query)));
    return valid === undefined ? undefined : { kind, orderHash, maker, valid };
  },
};

const counterOf = ({ maker }: QueryByKind["signature_read"]) =>
  ({ kind: "counter_read", maker }) as const;
const statusOf = ({ orderHash }: QueryByKind["signature_read"]) =>
  ({ kind: "order_status_read", orderHash }) as const;

/** Cancelled or filled whole: Seaport `_verifyOrderStatus`. */
const hasEnded = ({ cancelled, filled, size }: ResultByKind["order_status_read"]) =>
  cancelled || (filled > 0n && filled >= size);

function validateCall({ orderHash, maker, order }: QueryByKind["signature_read"]): ChainCall {
  return {
    to: seaportAddresses["1.6"],
    // Seaport skips the signature check when the maker calls; an address derived from the order's hash is nobody's.
    from: slice(orderHash, 12),
    data: encodeCall({
      abi: seaportFunctions,
      functionName: "validate",
      args: [[{ parameters: orderParameters(order.components), signature: order.signature }]],
    }),
    gas,
    payer: maker,
  };
}

function isSignatureAccepted(outcome: ChainCallOutcome): boolean | undefined {
  if (outcome === undefined) return undefined;
  if ("returned" in outcome) return wordOf(outcome) === 1n ? true : undefined;
  // Reverts have data, as the exchange gives its own reason where a contract gives none: without, the node gave up.
  return outcome.reverted === "0x" && outcome.isTooLarge !== true ? undefined : false;
}
