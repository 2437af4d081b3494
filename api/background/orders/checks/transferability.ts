import type { Address } from "viem";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { ChainQuery, Standard } from "#jobs/chain/chain-query.ts";
import type { ChainResults } from "#jobs/chain/query-chain.ts";

type Token = { contract: Address; tokenId: bigint; standard: Standard };

/** Balance, approvals, conduit channel and a simulated transfer of the token by the conduit. */
export function transferQueries({ contract, tokenId, standard }: Token, owner: Address) {
  return {
    holding:
      standard === "erc721"
        ? { kind: "owner_read", contract, tokenId }
        : { kind: "units_read", contract, tokenId, owner },
    approval: { kind: "approval_read", contract, owner },
    ...(standard === "erc721" && {
      tokenApproval: { kind: "token_approval_read", contract, tokenId } as const,
    }),
    channel: { kind: "channel_read" },
    transfer: { kind: "transfer_read", contract, tokenId, owner, standard },
  } as const satisfies Record<string, ChainQuery>;
}

type TransferQueries = ReturnType<typeof transferQueries>;

/** Units that the owner holds; undefined: unknown. */
export function heldUnits(
  { holding, approval }: TransferQueries,
  results: ChainResults,
): bigint | undefined {
  if (holding.kind === "units_read") return results.find(holding)?.units;
  const reading = results.find(holding);
  if (reading === undefined) return undefined;
  return reading.owner === approval.owner ? 1n : 0n;
}

/** Whether the conduit may move the owner's tokens, or this one; undefined: unknown. */
export function isConduitApproved(
  { approval, tokenApproval }: Pick<TransferQueries, "approval" | "tokenApproval">,
  results: ChainResults,
): boolean | undefined {
  const ofAll = results.find(approval)?.approved;
  const ofToken = tokenApproval === undefined ? false : results.find(tokenApproval)?.approved;
  if (ofAll || ofToken) return true;
  return ofAll === undefined || ofToken === undefined ? undefined : false;
}

/** Why the conduit cannot transfer the token; unknown results do not reject. */
export function evaluateConduit(
  { channel, transfer }: TransferQueries,
  results: ChainResults,
): Rejection<"conduit_channel_closed" | "transfer_restricted"> | null {
  if (results.find(channel)?.open === false) {
    return reject("conduit_channel_closed", "The conduit's channel to the exchange is closed");
  }
  if (results.find(transfer)?.allowed === false) {
    return reject("transfer_restricted", "The collection does not allow the transfer of the token");
  }
  return null;
}
