import { decodeFunctionData, encodeFunctionData, type Hex, zeroAddress, zeroHash } from "viem";
import { contracts } from "#devnet/contracts/addresses.ts";
import { exchangeAbi, tokenAbi } from "#sdk/src/viem/abis.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are altered in any form
type Any = any;

/** What a server that lies makes of an honest answer, in place. */
export type Alteration = (data: Any) => void;

const attacker = "0x00000000000000000000000000000000000bad00";
const otherKey = `0x${"ab".repeat(32)}`;
const more = (amount: unknown) => `${BigInt(amount as string) + 1n}`;

type Fill = { order: Any; resolvers: Any[]; key: Hex; recipient: Hex };

/** Alters the arguments of a purchase, or of the first of a sweep; its bytes are encoded again. */
const inCall =
  (alter: (fill: Fill) => void): Alteration =>
  (data) => {
    const end = data.data.length - 8;
    const call: Any = decodeFunctionData({ abi: exchangeAbi, data: data.data.slice(0, end) });
    const args = structuredClone(call.args);
    const isSweep = call.functionName === "fulfillAvailableAdvancedOrders";
    const [first, resolvers] = args;
    const [key, recipient] = isSweep ? args.slice(4) : args.slice(2);
    const order = isSweep ? first[0] : first;
    const fill: Fill = { order, resolvers: [...resolvers], key, recipient };
    alter(fill);
    const payer = [fill.key, fill.recipient];
    const altered = isSweep
      ? [first, fill.resolvers, args[2], args[3], ...payer, args[6]]
      : [fill.order, fill.resolvers, ...payer];
    const { functionName } = call;
    const again = encodeFunctionData({ abi: exchangeAbi, functionName, args: altered as Any });
    data.data = again + data.data.slice(end);
  };
const inOrder = (alter: (parameters: Any) => void) =>
  inCall(({ order }) => alter(order.parameters));

export const alteredPurchases: Record<string, Alteration> = {
  "another contract is called": (data) => {
    data.to = attacker;
  },
  "more value is sent": (data) => {
    data.value = more(data.value);
  },
  "somebody else receives the token": inCall((fill) => {
    fill.recipient = attacker;
  }),
  "it is another token": inOrder(({ offer }) => {
    offer[0].identifierOrCriteria += 1n;
  }),
  "it is a token of another contract": inOrder(({ offer }) => {
    offer[0].token = contracts.editions;
  }),
  "it is another order for the same": inOrder((parameters) => {
    parameters.salt += 1n;
  }),
  "it is for something else than a token": inOrder(({ offer }) => {
    offer[0].itemType = 1;
  }),
  "a part of it only": inCall(({ order }) => {
    order.denominator = 2n;
  }),
  "nothing of it": inCall(({ order }) => {
    order.numerator = 0n;
  }),
  "the number of units shrinks": inOrder(({ offer }) => {
    offer[0].endAmount = 0n;
  }),
  "a payment is higher": inOrder(({ consideration }) => {
    consideration[0].startAmount += 1n;
    consideration[0].endAmount += 1n;
  }),
  "a payment grows with time": inOrder(({ consideration }) => {
    consideration[0].endAmount *= 2n;
  }),
  "one more payment": inOrder(({ consideration }) => {
    consideration.push({ ...consideration[0], recipient: attacker });
  }),
  "a payment in a currency that is approved": inOrder(({ consideration }) => {
    Object.assign(consideration[0], { itemType: 1, token: contracts.punks });
  }),
  "a token of the buyer's is taken": inOrder(({ consideration }) => {
    Object.assign(consideration[0], { itemType: 2, token: contracts.punks });
  }),
  "a criteria resolver": inCall(({ resolvers }) => {
    resolvers.push({ orderIndex: 0n, side: 0, index: 0n, identifier: 1n, criteriaProof: [] });
  }),
  "another conduit pays": inCall((fill) => {
    fill.key = otherKey as Hex;
  }),
  "another function of the exchange": (data) => {
    data.data = `${encodeFunctionData({ abi: exchangeAbi, functionName: "incrementCounter" })}00000000`;
  },
  "an approval": (data) => {
    const args = [attacker, true] as const;
    data.data = encodeFunctionData({ abi: tokenAbi, functionName: "setApprovalForAll", args });
  },
  "something behind the arguments": (data) => {
    data.data += "00".repeat(32);
  },
  "no bytes at all": (data) => {
    data.data = "0x";
  },
  "bytes that are none": (data) => {
    data.data = "<html>";
  },
  "a value that is no number": (data) => {
    data.value = null;
  },
};

/** The same of the first listing of a sweep, and what only a sweep can say. */
export const alteredSweeps: Record<string, Alteration> = {
  ...Object.fromEntries(
    Object.entries(alteredPurchases).map(([name, alter]): [string, Alteration] => [
      name,
      ({ transactions }) => alter(transactions[0]),
    ]),
  ),
  "a listing that is not shown": ({ transactions }) => {
    transactions[0].askIds.push("mkt-0x00");
  },
  "more than the budget": ({ items }) => {
    items[0].priceWei = `${10n ** 30n}`;
  },
  "an unknown currency": ({ items }) => {
    items[0].currency = { ...items[0].currency, address: attacker };
  },
};

const inBasic =
  (alter: (basic: Any) => void): Alteration =>
  (data) =>
    alter(data.basicOrderParameters);

export const alteredAcceptances: Record<string, Alteration> = {
  "another contract is called": (data) => {
    data.to = attacker;
  },
  "value is sent": (data) => {
    data.value = "1";
  },
  "another method": (data) => {
    data.method = "fulfillAdvancedOrder";
  },
  "another token is sold": inBasic((basic) => {
    basic.considerationIdentifier = more(basic.considerationIdentifier);
  }),
  "a token of another contract is sold": inBasic((basic) => {
    basic.considerationToken = contracts.editions;
  }),
  "more units are sold": inBasic((basic) => {
    basic.considerationAmount = "2";
  }),
  "the seller pays more fees": inBasic((basic) => {
    const [first] = basic.additionalRecipients;
    first.amount = more(first.amount);
  }),
  "the bidder pays less": inBasic((basic) => {
    basic.offerAmount = "1";
  }),
  "another currency": inBasic((basic) => {
    basic.offerToken = attacker;
  }),
  "another conduit moves the token": inBasic((basic) => {
    basic.fulfillerConduitKey = zeroHash;
  }),
  "another kind of trade": inBasic((basic) => {
    basic.basicOrderType = 0;
  }),
  "a zone decides": inBasic((basic) => {
    basic.zone = attacker;
  }),
};

const inMirror =
  (alter: (mirror: Any) => void): Alteration =>
  ({ orders }) =>
    alter(orders[1].parameters);

export const alteredMatches: Record<string, Alteration> = {
  "somebody else is paid": inMirror(({ consideration }) => {
    consideration[0].recipient = attacker;
  }),
  "the seller receives less": inMirror(({ consideration }) => {
    consideration[0].startAmount = "1";
  }),
  "the payment shrinks with time": inMirror(({ consideration }) => {
    consideration[0].endAmount = "1";
  }),
  "paid in something worthless": inMirror(({ consideration }) => {
    consideration[0].token = attacker;
  }),
  "another token is sold": inMirror(({ offer }) => {
    offer[0].identifierOrCriteria = more(offer[0].identifierOrCriteria);
  }),
  "one more token is sold": inMirror(({ offer }) => {
    offer.push({ ...offer[0], identifierOrCriteria: more(offer[0].identifierOrCriteria) });
  }),
  "any token is sold": inMirror(({ offer }) => {
    offer[0].itemType = 4;
  }),
  "another conduit": inMirror((mirror) => {
    mirror.conduitKey = otherKey;
  }),
  "a zone decides": inMirror((mirror) => {
    mirror.zone = attacker;
  }),
  "a third order, of the seller's": ({ orders }) => {
    orders.push(structuredClone(orders[1]));
  },
  "the other order is the seller's too": ({ orders }) => {
    orders[0].parameters.offerer = orders[1].parameters.offerer;
  },
  "what is left over goes elsewhere": (data) => {
    data.recipient = attacker;
  },
  "a resolver for the seller's side": ({ criteriaResolvers }) => {
    criteriaResolvers.push({ ...criteriaResolvers[0], orderIndex: "1" });
  },
};

const inRow =
  (alter: (row: Any) => void): Alteration =>
  ({ items }) =>
    alter(items[0]);

export const alteredListings: Record<string, Alteration> = {
  "somebody else is paid": inRow(({ consideration }) => {
    consideration[0].recipient = attacker;
  }),
  "a lower price": inRow(({ consideration }) => {
    consideration[0].startAmount = consideration[0].endAmount = "1";
  }),
  "the price falls with time": inRow(({ consideration }) => {
    consideration[0].endAmount = "1";
  }),
  "nothing is paid": inRow((row) => {
    row.consideration = [];
  }),
  "paid in something worthless": inRow(({ consideration }) => {
    Object.assign(consideration[0], { itemType: 1, token: attacker });
  }),
  "another token": inRow(({ offer }) => {
    offer[0].identifierOrCriteria = more(offer[0].identifierOrCriteria);
  }),
  "a token of another contract": inRow(({ offer }) => {
    offer[0].token = contracts.editions;
  }),
  "one more token": inRow(({ offer }) => {
    offer.push({ ...offer[0], identifierOrCriteria: "1" });
  }),
  "any token": inRow(({ offer }) => {
    Object.assign(offer[0], { itemType: 4, identifierOrCriteria: "0" });
  }),
  "a zone or a contract decides": inRow((row) => {
    row.orderType = 2;
  }),
  "items are missing": (data) => {
    data.items = [];
  },
};

export const alteredBids: Record<string, Alteration> = {
  "somebody else receives the token": inRow(({ consideration }) => {
    consideration[0].recipient = attacker;
  }),
  "a higher price": inRow(({ offer }) => {
    offer[0].startAmount = offer[0].endAmount = more(offer[0].startAmount);
  }),
  "the price grows with time": inRow(({ offer }) => {
    offer[0].endAmount = more(offer[0].endAmount);
  }),
  "another currency": inRow(({ offer }) => {
    offer[0].token = contracts.editions;
  }),
  "a token is given": inRow(({ offer }) => {
    Object.assign(offer[0], { itemType: 2, token: contracts.punks });
  }),
  "another token": inRow(({ consideration }) => {
    consideration[0].identifierOrCriteria = more(consideration[0].identifierOrCriteria);
  }),
  "a token of another contract": inRow(({ consideration }) => {
    consideration[0].token = attacker;
  }),
  "any token": inRow(({ consideration }) => {
    Object.assign(consideration[0], { itemType: 4, identifierOrCriteria: "0" });
  }),
  "nothing is received": inRow((row) => {
    row.consideration = [];
  }),
  "a fee in native currency": inRow(({ consideration }) => {
    Object.assign(consideration[1], { itemType: 0, token: zeroAddress });
  }),
};

export const alteredComponents: Record<string, Alteration> = {
  "another order": ({ components }) => {
    components.salt = more(components.salt);
  },
  "an order of somebody else": ({ components }) => {
    components.offerer = attacker;
  },
  nothing: (data) => {
    delete data.components;
  },
};
