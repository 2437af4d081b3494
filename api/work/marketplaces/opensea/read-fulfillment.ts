import { type Address, type Hex, hexToBigInt, size, slice } from "viem";
import type { z } from "zod";
import { type ChainId, seaport } from "../../../../abis/deployments.ts";
import { type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import {
  itemType,
  type OrderComponents,
} from "../../../../projections/domain/seaport/order-components.ts";
import { orderHash } from "../../../../projections/domain/seaport/order-hash.ts";
import type { AskedFulfillment, Fulfillment } from "../partner.ts";
import type { AdvancedOrder, BasicParameters, FulfillmentAnswer } from "./shapes.ts";

type Transaction = z.output<typeof FulfillmentAnswer>["fulfillment_data"]["transaction"];
type Parameters = Omit<OrderComponents, "counter">;
type Handed = Omit<Fulfillment, "to" | "value" | "components" | "validUntil"> & {
  parameters: Parameters;
};

/**
 * What fills the order asked for, out of the call that the partner proposes. Only the order itself is believed: by its
 * hash; and the zone's word by whom it is for.
 */
export function readFulfillment(
  transaction: Transaction,
  chainId: ChainId,
  { orderHash: asked, counter, buyer }: AskedFulfillment,
): Fulfillment | Rejection<"unsupported_order" | "order_mismatch"> {
  if (transaction.chain !== chainId || transaction.to !== seaport["1.6"]) {
    return reject("order_mismatch", "The fulfilment is for another exchange");
  }
  const handed = handedOver(transaction.input_data);
  if (handed === null) {
    return reject("unsupported_order", `The order is filled by ${nameOf(transaction.function)}`);
  }
  const { parameters, ...rest } = handed;
  const components = { ...parameters, counter };
  if (orderHash(components) !== asked) {
    return reject("order_mismatch", `The fulfilment is not of ${asked}`);
  }
  const word = zoneWord(rest.extraData);
  if (word !== null && !word.isFor(buyer)) {
    return reject("order_mismatch", "The zone's word is for another buyer");
  }
  const validUntil = word?.validUntil ?? null;
  return { to: transaction.to, value: transaction.value, components, validUntil, ...rest };
}

function handedOver(input: Transaction["input_data"]): Handed | null {
  switch (input.kind) {
    case "advanced":
      return fromOrder(input.advancedOrder, input.fulfillerConduitKey);
    case "plain":
      return fromOrder({ ...input.order, ...whole }, input.fulfillerConduitKey);
    case "basic":
      return fromBasic(input.parameters);
    case "other":
      return null;
  }
}

const whole = { numerator: 1n, denominator: 1n, extraData: "0x" } as const;

/** Items beyond those signed are tips of the partner's: the hash is of the signed ones, and the order as it was signed. */
function fromOrder(
  { parameters, signature, extraData, numerator, denominator }: AdvancedOrder,
  fulfillerConduitKey: Hex,
): Handed {
  const { totalOriginalConsiderationItems, ...signed } = parameters;
  return {
    parameters: {
      ...signed,
      consideration: signed.consideration.slice(0, Number(totalOriginalConsiderationItems)),
    },
    signature,
    extraData,
    numerator,
    denominator,
    fulfillerConduitKey,
  };
}

/** Seaport's `BasicOrderType`: four order types for each way of paying, of which the first four are listings. */
const orderTypes = 4;
const listingRoutes = 4;

function fromBasic(basic: BasicParameters): Handed | null {
  const route = Math.floor(basic.basicOrderType / orderTypes);
  if (route >= listingRoutes) return null;
  const original = Number(basic.totalOriginalAdditionalRecipients);
  const paid = (recipient: Address, amount: bigint) => ({
    itemType: route < 2 ? itemType.native : itemType.erc20,
    token: basic.considerationToken,
    identifierOrCriteria: basic.considerationIdentifier,
    startAmount: amount,
    endAmount: amount,
    recipient,
  });
  return {
    parameters: {
      offerer: basic.offerer,
      zone: basic.zone,
      offer: [
        {
          itemType: route % 2 === 0 ? itemType.erc721 : itemType.erc1155,
          token: basic.offerToken,
          identifierOrCriteria: basic.offerIdentifier,
          startAmount: basic.offerAmount,
          endAmount: basic.offerAmount,
        },
      ],
      consideration: [
        paid(basic.offerer, basic.considerationAmount),
        ...basic.additionalRecipients
          .slice(0, original)
          .map(({ recipient, amount }) => paid(recipient, amount)),
      ],
      orderType: basic.basicOrderType % orderTypes,
      startTime: basic.startTime,
      endTime: basic.endTime,
      zoneHash: basic.zoneHash,
      salt: basic.salt,
      conduitKey: basic.offererConduitKey,
    },
    signature: basic.signature,
    ...whole,
    fulfillerConduitKey: basic.fulfillerConduitKey,
  };
}

/** SIP-7: version 0, whom the word is for (zero: anybody), until when, the zone's signature, context. */
function zoneWord(extraData: Hex) {
  if (size(extraData) < 93 || slice(extraData, 0, 1) !== "0x00") return null;
  const fulfiller = hexToBigInt(slice(extraData, 1, 21));
  const seconds = hexToBigInt(slice(extraData, 21, 29));
  return {
    isFor: (buyer: Address) => fulfiller === 0n || fulfiller === hexToBigInt(buyer),
    validUntil: seconds > 8_640_000_000_000n ? null : new Date(Number(seconds) * 1_000),
  };
}

const nameOf = (signature: string) => signature.split("(")[0]?.slice(0, 60);
