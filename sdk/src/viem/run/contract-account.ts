import {
  type Address,
  type Hex,
  hashTypedData,
  type PublicClient,
  parseAbi,
  type TypedDataDomain,
} from "viem";
import { domainOf, isSame, type OrderComponents, orderTypes } from "../exchange.ts";
import { WalletError } from "../wallet-error.ts";
import type { Run } from "./context.ts";
import { poll } from "./poll.ts";
import { isRevert } from "./revert.ts";

/** Whether the account is a contract, such as a Safe, whose owners agree elsewhere. Accounts of EIP-7702 have a key. */
export async function isContractAccount(
  publicClient: PublicClient,
  address: Address,
): Promise<boolean> {
  const code = await publicClient.getCode({ address });
  return code !== undefined && code !== "0x" && !code.startsWith("0xef0100");
}

const signatureAbi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);
/** What a contract returns for a valid signature (ERC-1271). */
const accepted: Hex = "0x1626ba7e";

/** Waits until the contract accepts a signature of the order: one that it has on chain may be empty. */
export async function untilAccepted(
  run: Run,
  message: OrderComponents,
  signature: Hex,
): Promise<void> {
  const { plan, publicClient } = run;
  const domain: TypedDataDomain = domainOf(plan.chainId);
  const typed = { domain, types: orderTypes, primaryType: "OrderComponents", message } as const;
  const call = {
    address: plan.maker,
    abi: signatureAbi,
    functionName: "isValidSignature",
  } as const;
  const args = [hashTypedData(typed), signature] as const;
  const read = async () => {
    try {
      const answer = await publicClient.readContract({ ...call, args });
      return isSame(answer, accepted) || undefined;
    } catch (error) {
      // A Safe reverts until enough of its owners have signed.
      if (isRevert(error)) return undefined;
      throw error;
    }
  };
  await poll(run, read, () => notSigned("The order is not signed by enough owners"));
}

export const notSigned = (what: string): WalletError =>
  new WalletError("not_signed", `${what} of the account yet: run the plan again later`);
