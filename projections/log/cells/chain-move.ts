import type { Database } from "../../database.ts";

/** A chain on its way from one database to another. */
export type ChainMove = {
  readonly chainId: number;
  readonly from: Database;
  readonly to: Database;
};
