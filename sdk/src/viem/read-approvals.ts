import type { Address } from "viem";
import { exchangeAbi, tokenAbi } from "./abis.ts";
import type { Clients } from "./clients.ts";
import { exchange } from "./exchange.ts";

type Reading = Pick<Clients, "reads" | "maker">;

/** Whether the operator may move all tokens of a contract. */
export const readIsApproved = (
  { reads, maker }: Reading,
  address: Address,
  operator: Address,
): Promise<boolean> =>
  reads.readContract({
    address,
    abi: tokenAbi,
    functionName: "isApprovedForAll",
    args: [maker, operator],
  });

/** What a spender may take of an ERC-20. */
export const readAllowance = (
  { reads, maker }: Reading,
  address: Address,
  spender: Address,
): Promise<bigint> =>
  reads.readContract({
    address,
    abi: tokenAbi,
    functionName: "allowance",
    args: [maker, spender],
  });

/** Orders with another counter than the maker's are not valid. */
export const readCounter = ({ reads, maker }: Reading): Promise<bigint> =>
  reads.readContract({
    address: exchange,
    abi: exchangeAbi,
    functionName: "getCounter",
    args: [maker],
  });
