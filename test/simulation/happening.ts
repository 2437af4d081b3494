import type { ChainEvent } from "../support/database/given.ts";

/** An event without its place. */
export type Happening = Omit<ChainEvent, "block" | "logIndex" | "transactionIndex">;
