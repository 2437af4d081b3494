import type { ProvableChain } from "../chain/provable-chain.ts";
import { compareRecords, describeDifference } from "../subjects/compare-records.ts";
import { recordOf, type StoredRecord } from "../subjects/record.ts";
import type { Outcome, Trial } from "../trial.ts";

/**
 * Whether what is stored now is the chain up to some block: rows up to the last that has one, and owners, holders and
 * sales up to the same or an earlier one, as they are derived of the rows.
 */
export async function writtenPrefix(trial: Trial): Promise<Outcome> {
  const { chain, subject, server } = trial;
  const stored = await subject.read(server.url, chain.chainId);
  const last = Math.max(0, ...stored.transfers.map((line) => Number.parseInt(line, 10)));
  const rows = compareRecords(stored, upTo(chain, last));
  const derivedAt = stored.owners.size + chain.firstBlock;
  const derived = compareRecords(stored, upTo(chain, derivedAt));
  const isRight =
    [...rows.missing, ...rows.foreign, ...rows.doubled, ...derived.derived].length === 0 &&
    derivedAt <= Math.max(last, chain.firstBlock);
  const seen = `${stored.transfers.length} rows up to ${last}, owners up to ${derivedAt}`;
  const difference = { ...rows, derived: derived.derived };
  return { isRight, seen: `${seen}: ${describeDifference(difference)}` };
}

/** Each usual block mints one token, so that their number tells the block. */
const upTo = (chain: ProvableChain, number: number): StoredRecord =>
  recordOf(chain.blocks().filter((block) => block.number <= number));
