import { type Address, concatHex, type Hex, type LocalAccount, numberToHex, parseSignature, serializeCompactSignature, signatureToCompactSignature } from "viem";
import type { ChainId } from "#chains/index.ts";
import { accounts } from "#devnet/accounts.ts";
import { signedZone } from "#devnet/contracts/addresses.ts";

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
export async function authorizeFill(authorization: Authorization): Promise<Hex> {
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
