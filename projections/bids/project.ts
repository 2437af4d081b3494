import type { Session } from "../database.ts";
import type { Projection, Window } from "../engine/projection.ts";
import { readKinds } from "../engine/window.ts";
import { judgeAll, judgedBids, judgeTouched, openJudged } from "./judged.ts";
import { storeStates } from "./store.ts";
import { bidTables } from "./table.ts";

/** The bids of the book: for each the state that the log tells of it. */
export const bidsProjection: Projection = {
  name: "bids",
  version: 2,
  tables: bidTables,
  async apply(session, schema, { upTo }, known) {
    await openJudged(session);
    const kinds = known ?? (await readKinds(session));
    if ((await judgeTouched(session, schema, upTo, kinds)) === 0) return;
    await storeStates(session, schema, { orders: judgedBids, from: "log", upTo });
  },
  deriveAll: [{ name: "bids", derive: deriveBids }],
};

async function deriveBids(session: Session, schema: string, { upTo }: Window): Promise<void> {
  await openJudged(session);
  await judgeAll(session);
  await storeStates(session, schema, { orders: judgedBids, from: "change", upTo });
}
