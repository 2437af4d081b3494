import { concatHex, type Hex, keccak256, stringToHex, toHex } from "viem";
import type { ChainId } from "#chains/index.ts";
import type { TradeTerms } from "../domain/orders/order-terms.ts";
import type { OrderComponents } from "../domain/seaport/order-components.ts";
import { type Observation, serializeBigints } from "../log/append.ts";

export type SubmittedOrder = {
  chainId: ChainId;
  orderHash: Hex;
  components: OrderComponents;
  signature: Hex;
  /** Whether the maker is a contract that confirms the signature (ERC-1271); absent: signed by the maker's key. */
  isContractSigned?: boolean;
  terms: TradeTerms;
  receivedAt: Date;
};

/** The fact of an accepted order. Repeated submissions are one fact, even with another signature. */
export function orderSubmitted(order: SubmittedOrder): Observation {
  const { chainId, orderHash, components, signature, terms } = order;
  return {
    kind: "order_submitted",
    chainId,
    contract: terms.contract,
    identity: keccak256(
      concatHex([stringToHex("order_submitted"), toHex(chainId, { size: 4 }), orderHash]),
    ),
    recordedAt: order.receivedAt,
    fromAddress: components.offerer,
    orderHash,
    amount: terms.quantity,
    ...(terms.tokenId === null ? {} : { tokenId: terms.tokenId }),
    payload: serializeBigints({
      protocol: "seaport-1.6",
      components,
      signature,
      terms,
      ...(order.isContractSigned ? { signedBy: "contract" } : {}),
    }),
  };
}
