/** One of a chain's indexers: a Ponder process with its schema. */
export type IndexerId = { chainId: number; indexer: string };

/** The indexer that every chain has. */
export const coreIndexer = "core";
