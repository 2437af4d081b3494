import { BaseError, decodeErrorResult, type Hex, parseAbi } from "viem";
import { WalletError } from "../wallet-error.ts";

/** Errors of the exchange, of conduits and of common tokens, and what they mean to the caller. */
const reasons: Readonly<Record<string, string>> = {
  "OrderAlreadyFilled(bytes32)": "the order is filled already",
  "OrderIsCancelled(bytes32)": "the order was cancelled",
  "OrderPartiallyFilled(bytes32)": "the order is filled in part",
  "InvalidTime(uint256,uint256)": "the order has expired or has not begun",
  "InvalidSigner()": "the signature is not the maker's",
  "InvalidSignature()": "the signature is not valid",
  "BadContractSignature()": "the maker's contract does not accept the signature",
  "BadSignatureV(uint8)": "the signature is not valid",
  "BadFraction()": "that many units cannot be filled",
  "InexactFraction()": "that many units cannot be filled",
  "PartialFillsNotEnabledForOrder()": "the order can only be filled whole",
  "NoSpecifiedOrdersAvailable()": "none of the orders can be filled",
  "InsufficientNativeTokensSupplied()": "too little native currency is sent",
  "InvalidMsgValue(uint256)": "another amount of native currency must be sent",
  "NativeTokenTransferGenericFailure(address,uint256)":
    "a recipient does not accept native currency",
  "TokenTransferGenericFailure(address,address,address,uint256,uint256)":
    "the token cannot be moved: not owned, not approved, or locked by its contract",
  "BadReturnValueFromERC20OnTransfer(address,address,address,uint256)":
    "the currency cannot be moved: too little balance or allowance",
  "NoContract(address)": "the token has no contract",
  "InvalidConduit(bytes32,address)": "the conduit is not known to the exchange",
  "InvalidCallToConduit(address)": "the conduit refuses",
  "ChannelClosed(address)": "the conduit is closed to the exchange",
  "ConsiderationNotMet(uint256,uint256,uint256)": "the payment does not reach its recipients",
  "InvalidRestrictedOrder(bytes32)": "the order's zone refuses",
  "CannotCancelOrder()": "only its maker can cancel an order",
  "ERC721InsufficientApproval(address,uint256)": "the token is not approved",
  "ERC721IncorrectOwner(address,uint256,address)": "the token has another owner",
  "ERC721NonexistentToken(uint256)": "the token does not exist",
  "ERC1155InsufficientBalance(address,uint256,uint256,uint256)": "too few units are held",
  "ERC1155MissingApprovalForAll(address,address)": "the token is not approved",
  "ERC20InsufficientAllowance(address,uint256,uint256)":
    "the allowance of the currency is too small",
  "ERC20InsufficientBalance(address,uint256,uint256)": "the balance of the currency is too small",
};

/** What a contract said when a call failed, in words. Other failures, as of the node, are returned as they are. */
export function revertOf(error: unknown): unknown {
  const data = revertData(error);
  if (data === undefined) {
    if (!isRevert(error)) return error;
    const message = "The contract refuses without a reason";
    return new WalletError("reverted", message, { cause: error });
  }
  const { name, words } = decode(data);
  const message = `The contract refuses: ${words}`;
  return new WalletError("reverted", message, { reason: name, cause: error });
}

function decode(data: Hex): { name: string; words: string } {
  try {
    const signatures = Object.keys(reasons);
    const abi = parseAbi(signatures.map((signature) => `error ${signature}`) as never);
    const { errorName: name, args } = decodeErrorResult({ abi, data }) as {
      errorName: string;
      args?: readonly unknown[];
    };
    const known = signatures.find((signature) => signature.startsWith(`${name}(`));
    return { name, words: reasons[known ?? ""] ?? String(args?.[0] ?? name) };
  } catch {
    return { name: data.slice(0, 10), words: `an error that is not known (${data.slice(0, 10)})` };
  }
}

/** The bytes of a revert, wherever the node and viem put them. */
function revertData(error: unknown): Hex | undefined {
  if (!(error instanceof BaseError)) return undefined;
  return hexOf(error.walk((one) => hexOf(one) !== undefined));
}

function hexOf(error: unknown): Hex | undefined {
  const { data } = (error ?? {}) as { data?: unknown };
  const hex = typeof data === "object" ? (data as { data?: unknown } | null)?.data : data;
  return typeof hex === "string" && /^0x(?:[0-9a-f]{2}){4,}$/i.test(hex) ? (hex as Hex) : undefined;
}

/** A call without the data of its revert. */
export function isRevert(error: unknown): boolean {
  const isOne = (one: unknown) => /ExecutionReverted|ContractFunctionReverted/.test(nameOf(one));
  return error instanceof BaseError && error.walk(isOne) !== null;
}

const nameOf = (error: unknown) => String((error as { name?: unknown } | null)?.name);

/** Refused by the person at the wallet: EIP-1193 code 4001. */
export const isRefusal = (error: unknown): boolean => hasCode(error, 4001);

/** Whether the wallet answered with this code, wherever viem put it. */
export function hasCode(error: unknown, code: number): boolean {
  const isOne = (one: unknown) => (one as { code?: unknown } | null)?.code === code;
  return error instanceof BaseError ? error.walk(isOne) !== null : isOne(error);
}
