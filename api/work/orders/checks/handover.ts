import type { Address } from "viem";
import { type Rejection, reject } from "../../../../projections/domain/rejection.ts";
import type { ChainAnswers } from "../../chain/ask-chain.ts";
import type { Question, Standard } from "../../chain/questions.ts";

type Token = { contract: Address; tokenId: bigint; standard: Standard };

/** What a chain is asked about whoever is to hand a token over through the conduit. */
export function handoverQuestions({ contract, tokenId, standard }: Token, owner: Address) {
  return {
    holding:
      standard === "erc721"
        ? { kind: "owner_read", contract, tokenId }
        : { kind: "units_read", contract, tokenId, owner },
    approval: { kind: "approval_read", contract, owner },
    channel: { kind: "channel_read" },
    transfer: { kind: "transfer_read", contract, tokenId, owner, standard },
  } as const satisfies Record<string, Question>;
}

type HandoverQuestions = ReturnType<typeof handoverQuestions>;

/** Units that the owner holds; undefined: the chain did not say. */
export function heldUnits(
  { holding, approval }: HandoverQuestions,
  answers: ChainAnswers,
): bigint | undefined {
  if (holding.kind === "units_read") return answers.find(holding)?.units;
  const reading = answers.find(holding);
  if (reading === undefined) return undefined;
  return reading.owner === approval.owner ? 1n : 0n;
}

/** Whether an open conduit may move the token is known to be no only when a contract said so. */
export function judgeConduit(
  { channel, transfer }: HandoverQuestions,
  answers: ChainAnswers,
): Rejection<"conduit_channel_closed" | "transfer_restricted"> | null {
  if (answers.find(channel)?.open === false) {
    return reject("conduit_channel_closed", "The conduit is closed");
  }
  if (answers.find(transfer)?.allowed === false) {
    return reject("transfer_restricted", "The collection does not let the token be moved");
  }
  return null;
}
