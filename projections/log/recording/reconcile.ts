/** Fetches the hash of the chain\'s block at each height; null where it has none yet. Throws when the chain cannot be reached. */
export type CanonicalHashes = (numbers: readonly bigint[]) => Promise<Map<bigint, string | null>>;

export type PonderBlock = { number: bigint; hash: string; events: number };

/** A block of the log. `isRetracted`: its facts are not effective. */
export type RecordedBlock = PonderBlock & { blockId: bigint; isRetracted: boolean };

export type Plan = {
  retract: bigint[];
  readopt: bigint[];
  /** Hashes of blocks with events that the log lacks. */
  append: string[];
  /** Blocks held back until Ponder and the chain agree. */
  held: number;
};

/**
 * Compares an indexer's blocks of a range with the log's: those of which the log holds its events, and all at the heights
 * of its blocks, which other indexers may have recorded from another branch. A block missing in Ponder is only suspected: Ponder also deletes
 * rows after a crash or behind a lagging node. The chain's answer retracts and readopts, and while it contradicts Ponder
 * nothing at the disputed heights is appended, so that two branches are never effective at once.
 */
export async function reconcile(
  inPonder: readonly PonderBlock[],
  inLog: readonly RecordedBlock[],
  canonicalHashes: CanonicalHashes,
): Promise<Plan> {
  const ponder = new Map(inPonder.map((block) => [block.hash, block]));
  const log = new Map(inLog.map((block) => [block.hash, block]));
  const suspects = inLog.filter((block) => !block.isRetracted && !ponder.has(block.hash));
  const returning = inLog.filter((block) => block.isRetracted && ponder.has(block.hash));
  const unseen = inPonder.filter((block) => block.events > (log.get(block.hash)?.events ?? 0));

  if (suspects.length + returning.length === 0) {
    return { retract: [], readopt: [], append: unseen.map(({ hash }) => hash), held: 0 };
  }
  const disputed = [...suspects, ...returning, ...unseen];
  const canonical = await canonicalHashes([...new Set(disputed.map(({ number }) => number))]);
  const isCanonical = ({ number, hash }: PonderBlock) => canonical.get(number) === hash;

  const retract = orphans(suspects, canonical);
  const unresolved = suspects.filter((block) => !retract.includes(block) && !isCanonical(block));
  const readopt = returning.filter(isCanonical);
  // Facts of a retracted block are not effective; they are appended in case it is readopted.
  const isKnownRetracted = ({ hash }: PonderBlock) => log.get(hash)?.isRetracted === true;
  const append =
    unresolved.length > 0
      ? []
      : unseen.filter((block) => isCanonical(block) || isKnownRetracted(block));
  const undecided = returning.filter(({ number }) => (canonical.get(number) ?? null) === null);
  return {
    retract: retract.map(({ blockId }) => blockId),
    readopt: readopt.map(({ blockId }) => blockId),
    append: append.map(({ hash }) => hash),
    held: unseen.length - append.length + unresolved.length + undecided.length,
  };
}

/** Suspects whose height the chain gave to another block, and those above one of these where it has no block yet. */
export function orphans(
  suspects: readonly RecordedBlock[],
  canonical: ReadonlyMap<bigint, string | null>,
): RecordedBlock[] {
  const replaced = suspects.filter(({ number, hash }) => {
    const other = canonical.get(number) ?? null;
    return other !== null && other !== hash;
  });
  const fork = replaced.reduce<bigint | null>(
    (lowest, { number }) => (lowest === null || number < lowest ? number : lowest),
    null,
  );
  if (fork === null) return [];
  return suspects.filter(
    (block) =>
      replaced.includes(block) ||
      (block.number > fork && (canonical.get(block.number) ?? null) === null),
  );
}
