import type { Actors } from "./actors.ts";
import type { MarketContext } from "./signer.ts";

/** A short sequence of transactions after which any other scenario can still run. */
export type Scenario = (market: MarketContext, actors: Actors) => Promise<void>;
