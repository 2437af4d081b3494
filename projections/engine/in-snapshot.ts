import type { Transaction } from "kysely";
import type { Database } from "../log/database.ts";
import { withContractIds } from "../log/contracts.ts";

/** Derives in a transaction with one snapshot; in another one where contracts had to be registered first. */
export async function inSnapshot<Result>(
  db: Database,
  work: (session: Transaction<Record<string, never>>) => Promise<Result>,
): Promise<Result> {
  return await withContractIds(db, () =>
    db.transaction().setIsolationLevel("repeatable read").execute(work),
  );
}
