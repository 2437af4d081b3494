import {
  type Address,
  concatHex,
  type Hex,
  isAddress,
  type LocalAccount,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from "viem";
import { z } from "zod";
import { commonConduit, seaportAddresses } from "#abis/deployments.ts";
import type { ChainId } from "#chains/index.ts";
import { chainCalled } from "#chains/partners.ts";
import { accounts } from "#devnet/accounts.ts";
import { signedZone } from "#devnet/contracts/addresses.ts";
import { type AdvancedOrder, advancedOrder } from "#projections/domain/seaport/fill.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { type StoredListing, totalWei } from "../listing-store.ts";
import { presentItem } from "../seaport-shapes.ts";
import type { StandInState } from "../stand-in.ts";
import type { Answer, StandInRequest } from "../stand-in-server.ts";
import { presentParameters } from "./shapes.ts";

const address = z.custom<Address>((text) => isAddress(`${text}`, { strict: false }));

const Request = z.object({
  listing: z.object({ hash: z.string(), chain: z.string(), protocol_address: z.string() }),
  fulfiller: z.object({ address }),
  recipient: address.optional(),
  units_to_fill: z.int().min(1).optional(),
});

/** How long the zone's word for a buyer holds. */
export const authorizationSeconds = 120;

const signatureOf =
  "fulfillAdvancedOrder(((address,address,(uint8,address,uint256,uint256,uint256)[],(uint8,address,uint256,uint256,uint256,address)[],uint8,uint256,uint256,bytes32,uint256,bytes32,uint256),uint120,uint120,bytes,bytes),(uint256,uint8,uint256,uint256,bytes32[])[],bytes32,address)";

/** What lets one buyer fill a listing, for two minutes. The partner believes its book, not the chain. */
export async function answerFulfillment(
  { book }: StandInState,
  request: StandInRequest,
): Promise<Answer> {
  const parsed = Request.safeParse(request.body);
  if (!parsed.success) return refuse(z.prettifyError(parsed.error));
  const { listing, fulfiller, recipient = fulfiller.address } = parsed.data;
  const chainId = chainCalled("opensea", listing.chain);
  if (chainId === undefined) return refuse(`${listing.chain} is not a supported chain`);
  if (listing.protocol_address.toLowerCase() !== seaportAddresses["1.6"])
    return refuse(`${listing.protocol_address} is not a supported Seaport contract`);
  const shown = book.find(chainId, listing.hash);
  if (shown === undefined) return refuse(`Order with hash ${listing.hash} not found`);
  const units = BigInt(parsed.data.units_to_fill ?? shown.remaining);
  const refusal = whyNot(shown, units, request.now);
  if (refusal !== undefined) return refuse(refusal);
  const order = request.wrong.includes("substituted") ? dearer(shown.order) : shown.order;
  const extraData = await authorizeFill({
    chainId,
    orderHash: shown.orderHash,
    fulfiller: fulfiller.address,
    expiration: request.now + authorizationSeconds,
    signer: request.wrong.includes("signer") ? accounts.frank : accounts.zoneSigner,
  });
  const advanced = { ...advancedOrder(order, units), extraData };
  const valueWei = ("native" === currencyOf(shown) ? totalWei(order) * units : 0n) / shown.quantity;
  return {
    status: 200,
    body: {
      protocol: "seaport1.6",
      fulfillment_data: {
        transaction: presentTransaction(shown, { advanced, recipient, valueWei }),
        orders: [{ parameters: presentParameters(shown), signature: order.signature }],
      },
    },
  };
}

const refuse = (error: string): Answer => ({ status: 400, body: { errors: [error] } });

const currencyOf = ({ order }: StoredListing) =>
  order.components.consideration[0]?.itemType === 0 ? "native" : "wrapped";

function whyNot(shown: StoredListing, units: bigint, now: number): string | undefined {
  const { status, remaining, order } = shown;
  if (status !== "active") return `The order is ${status} and cannot be fulfilled`;
  if (order.components.endTime <= BigInt(now)) return "The order has expired";
  return units > remaining ? `Only ${remaining} units are left` : undefined;
}

function dearer(order: SignedOrder): SignedOrder {
  const [seller, ...legs] = order.components.consideration;
  if (seller === undefined) return order;
  const amount = seller.startAmount * 2n;
  const consideration = [{ ...seller, startAmount: amount, endAmount: amount }, ...legs];
  return { ...order, components: { ...order.components, consideration } };
}

type Fill = { advanced: AdvancedOrder; recipient: Address; valueWei: bigint };

function presentTransaction({ chainId }: StoredListing, { advanced, recipient, valueWei }: Fill) {
  const { parameters, numerator, denominator, signature, extraData } = advanced;
  const calldataSuffix: Hex = "0x360c6ebe";
  return {
    function: signatureOf,
    chain: chainId,
    to: seaportAddresses["1.6"],
    value: `${valueWei}`,
    input_data: {
      advancedOrder: {
        parameters: {
          ...parameters,
          offer: parameters.offer.map(presentItem),
          consideration: parameters.consideration.map(presentItem),
          startTime: `${parameters.startTime}`,
          endTime: `${parameters.endTime}`,
          salt: `${parameters.salt}`,
          totalOriginalConsiderationItems: `${parameters.totalOriginalConsiderationItems}`,
        },
        numerator: Number(numerator),
        denominator: Number(denominator),
        signature,
        extraData,
      },
      criteriaResolvers: [],
      fulfillerConduitKey: commonConduit.key,
      recipient,
    },
    calldata_suffix: calldataSuffix,
  };
}

type Authorization = {
  chainId: ChainId;
  orderHash: Hex;
  fulfiller: Address;
  /** Unix seconds; the zone takes it until and with this one. */
  expiration: number;
  /** The identifier of the first item asked for: 0 where it is a currency. SIP-7, substandard 0. */
  firstIdentifier?: bigint;
  /** The zone believes no other than its own. */
  signer?: LocalAccount;
};

const types = {
  SignedOrder: [
    { name: "fulfiller", type: "address" },
    { name: "expiration", type: "uint64" },
    { name: "orderHash", type: "bytes32" },
    { name: "context", type: "bytes" },
  ],
} as const;

/** The `extraData` with which the zone lets `fulfiller` fill the order, laid out as in SIP-7. */
async function authorizeFill(authorization: Authorization): Promise<Hex> {
  const { chainId, orderHash, fulfiller, expiration } = authorization;
  const { firstIdentifier = 0n, signer = accounts.zoneSigner } = authorization;
  if (signer.signTypedData === undefined)
    throw new TypeError(`${signer.address} cannot sign typed data`);
  const context = concatHex(["0x00", numberToHex(firstIdentifier, { size: 32 })]);
  const signature = await signer.signTypedData({
    domain: { name: "OpenSeaSignedZone", version: "2.0", chainId, verifyingContract: signedZone },
    types,
    primaryType: "SignedOrder",
    message: { fulfiller, expiration: BigInt(expiration), orderHash, context },
  });
  const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));
  return concatHex(["0x00", fulfiller, numberToHex(expiration, { size: 8 }), compact, context]);
}
