import { decodeEventLog, type Hex, toEventSelector } from "viem";
import { z } from "zod";
import { erc721Abi, erc1155Abi } from "#abis/tokens.ts";
import { isOfCryptopunks, punkTransfer } from "#projections/exchanges/cryptopunks/cryptopunks.ts";
import { nativeTransferLogs, type TokenTransfer } from "#projections/exchanges/model/exchange.ts";

const hex = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .transform((text) => text.toLowerCase() as Hex);

/** The part of a receipt that transfers are read from. */
export const TransferReceipt = z.object({
  transactionHash: hex,
  blockHash: hex,
  logs: z.array(
    z.object({
      address: hex,
      topics: z.array(hex),
      data: hex,
      logIndex: z
        .string()
        .regex(/^0x[0-9a-f]{1,8}$/i)
        .transform(Number),
    }),
  ),
});

type Log = z.infer<typeof TransferReceipt>["logs"][number];
type Movement = Pick<TokenTransfer, "from" | "to" | "tokenId" | "amount">;

const [transferAbi, singleAbi, batchAbi] = [
  ...erc721Abi.filter((item) => item.type === "event" && item.name === "Transfer"),
  ...erc1155Abi.filter((item) => item.type === "event"),
] as const;
const selectors = {
  transfer: toEventSelector(transferAbi as (typeof erc721Abi)[0]),
  single: toEventSelector(singleAbi as (typeof erc1155Abi)[0]),
  batch: toEventSelector(batchAbi as (typeof erc1155Abi)[1]),
};

/**
 * Transfers of a transaction that are returned. One that moves anything costs thousands of gas, so that no transaction with
 * a trade has as many; an entry of a batch that moves nothing costs 512.
 */
export const maxTransfers = 5_000;

/**
 * The transfers of NFTs and coins among a receipt's logs, in their order; none where there are more than `maxTransfers`.
 * A log that does not decode is none.
 */
export function parseTransfers(receiptLogs: readonly Log[]): TokenTransfer[] {
  const logs = receiptLogs.filter(({ address }) => address !== nativeTransferLogs);
  const found = logs.flatMap((log, index) => {
    try {
      const movements = isOfCryptopunks(log)
        ? [punkTransfer(logs, index) ?? []].flat()
        : movementsOf(log);
      return movements.map(({ standard, ...movement }) => {
        const { logIndex, address: contract } = log;
        return { logIndex, standard, contract, ...lowerCase(movement) };
      });
    } catch {
      return [];
    }
  });
  return found.length > maxTransfers ? [] : found;
}

function movementsOf({ topics, data }: Log): (Movement & Pick<TokenTransfer, "standard">)[] {
  const [selector, first, second, third] = topics;
  if (selector === selectors.transfer) {
    if (first === undefined || second === undefined) return [];
    const parties = { from: addressIn(first), to: addressIn(second) };
    if (third !== undefined) {
      return [{ standard: "erc721", ...parties, tokenId: `${BigInt(third)}`, amount: "1" }];
    }
    if (data.length !== 66) return [];
    return [{ standard: "erc20", ...parties, tokenId: null, amount: `${BigInt(data)}` }];
  }
  if (selector !== selectors.single && selector !== selectors.batch) return [];
  const log = { topics: topics as [Hex, ...Hex[]], data };
  const event = decodeEventLog({ abi: erc1155Abi, ...log, strict: true });
  const { from, to } = event.args;
  const [ids, values] =
    event.eventName === "TransferBatch"
      ? [event.args.ids, event.args.values]
      : [[event.args.id], [event.args.value]];
  return ids.slice(0, values.length).map((id, index) => {
    const parties = { from, to, tokenId: `${id}` };
    return { standard: "erc1155", ...parties, amount: `${values[index] ?? 0n}` };
  });
}

/** The address in a topic, whatever stands before it. */
const addressIn = (topic: Hex): Hex => `0x${topic.slice(-40)}`;

function lowerCase({ from, to, ...movement }: Movement): Movement {
  return { ...movement, from: from.toLowerCase() as Hex, to: to.toLowerCase() as Hex };
}
