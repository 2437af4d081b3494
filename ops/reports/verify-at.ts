import { isRejection } from "#projections/domain/rejection.ts";
import { resolvePoint } from "#projections/engine/point.ts";
import type { Database } from "#projections/log/database.ts";
import {
  type HolderDifference,
  type PastVerification,
  verifyPastHolders,
} from "#projections/tokens/verify-past-holders.ts";

/** A block of a chain, as an operator names it. */
export type NamedBlock = { readonly chainId: number; readonly block: bigint };

/** What `op verify --at` found, as lines and as JSON. Throws where the block cannot be told. */
export async function verifyAt(
  db: Database,
  { chainId, block }: NamedBlock,
  options: { sample?: number | undefined; maxExamples: number },
): Promise<{ lines: string[]; content: object; different: number }> {
  const { position, ...found } = await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (session) => {
      const point = await resolvePoint(session, chainId, { block });
      if (isRejection(point)) throw new Error(point.message);
      return { ...(await verifyPastHolders(session, point, options)), position: point.position };
    });
  const { examples, ...counts } = found;
  const at = { chainId, block: Number(block), position: Number(position) };
  return {
    lines: [
      `ownership at the end of block ${block} of chain ${chainId}, position ${position}: ${sentenceOf(found)}`,
      ...examples.map(lineOfHolder),
    ],
    content: { ...at, ...counts, differences: examples },
    different: found.different,
  };
}

function sentenceOf({ contracts, holders, different, tooLarge }: PastVerification): string {
  const verdict = different === 0 ? "no holder differs" : `${different} differ`;
  const left = tooLarge === 0 ? "" : `; ${tooLarge} contracts with too much to fold were left out`;
  return `${holders} holders of ${contracts} contracts compared, ${verdict}${left}`;
}

const lineOfHolder = ({ contract, owner, rebuilt, folded }: HolderDifference): string =>
  `  ${contract} ${owner}: ids and units by today's rows ${rebuilt ?? "none"}, by the log ${folded ?? "none"}`;
