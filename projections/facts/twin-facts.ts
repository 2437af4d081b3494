import { type Address, concatHex, type Hex, keccak256, stringToHex, toHex } from "viem";
import type { ChainId } from "../../abis/deployments.ts";
import type { OrderComponents } from "../domain/seaport/order-components.ts";
import type { Observation } from "../log/append.ts";
import type { PartnerName } from "./partner-listing.ts";
import { plain } from "./plain.ts";

/** A twin by the listing it is of and by itself. */
export type TwinName = {
  marketplace: PartnerName;
  chainId: ChainId;
  contract: Address;
  /** Of the listing in the market's own book. */
  orderHash: Hex;
  twinHash: Hex;
};

export type SubmittedTwin = TwinName & {
  components: OrderComponents;
  signature: Hex;
  receivedAt: Date;
};

/** The fact that a listing's maker signed its twin for a partner. One fact, however often it is sent. */
export function twinSubmitted(twin: SubmittedTwin): Observation {
  const { marketplace, chainId, contract, orderHash, twinHash, components, signature } = twin;
  const [item] = components.offer;
  return {
    kind: "twin_submitted",
    ...{ chainId, contract, orderHash },
    identity: identityOf("twin_submitted", twin),
    recordedAt: twin.receivedAt,
    fromAddress: components.offerer,
    ...(item && { tokenId: item.identifierOrCriteria, amount: item.startAmount }),
    payload: plain({ marketplace, protocol: "seaport-1.6", twinHash, components, signature }),
  };
}

export type TwinAnswer =
  | { status: "posted" }
  | { status: "rejected"; code: "partner_rejected"; message: string };

/** The fact of a partner's word on a twin; its first one stands. */
export function twinAnswered(twin: TwinName, answer: TwinAnswer, answeredAt: Date): Observation {
  const { marketplace, chainId, contract, orderHash, twinHash } = twin;
  const { code, message } = answer.status === "posted" ? { code: null, message: null } : answer;
  return {
    kind: "twin_answered",
    ...{ chainId, contract, orderHash },
    identity: identityOf("twin_answered", twin),
    recordedAt: answeredAt,
    payload: { marketplace, twinHash, status: answer.status, code, message },
  };
}

function identityOf(kind: string, { marketplace, chainId, orderHash, twinHash }: TwinName): Hex {
  const words = [stringToHex(`${kind} ${marketplace}`), toHex(chainId, { size: 4 })];
  return keccak256(concatHex([...words, orderHash, twinHash]));
}
