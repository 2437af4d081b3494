import type { Address } from "viem";
import { exchangeAbi, tokenAbi } from "./abis.ts";
import type { Clients } from "./clients.ts";
import { exchange } from "./exchange.ts";

type Reading = Pick<Clients, "publicClient" | "maker">;

/** Whether the operator may move all tokens of a contract. */
export const readIsApproved = (
  { publicClient, maker }: Reading,
  address: Address,
  operator: Address,
): Promise<boolean> =>
  publicClient.readContract({
    address,
    abi: tokenAbi,
    functionName: "isApprovedForAll",
    args: [maker, operator],
  });

/** What a spender may take of an ERC-20. */
export const readAllowance = (
  { publicClient, maker }: Reading,
  address: Address,
  spender: Address,
): Promise<bigint> =>
  publicClient.readContract({
    address,
    abi: tokenAbi,
    functionName: "allowance",
    args: [maker, spender],
  });

/** What the maker has of an ERC-20. */
export const readBalance = ({ publicClient, maker }: Reading, address: Address): Promise<bigint> =>
  publicClient.readContract({ address, abi: tokenAbi, functionName: "balanceOf", args: [maker] });

/** Orders with another counter than the maker's are not valid. */
export const readCounter = ({ publicClient, maker }: Reading): Promise<bigint> =>
  publicClient.readContract({
    address: exchange,
    abi: exchangeAbi,
    functionName: "getCounter",
    args: [maker],
  });
