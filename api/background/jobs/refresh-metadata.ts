import type { Logger } from "pino";
import type { Database } from "#projections/log/database.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import { isMetadataAtLeastAt, endRequests } from "#projections/metadata/read-due-metadata.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { Job, Waker } from "../log-signal/job.ts";
import { createCooldowns } from "../metadata/cooldowns.ts";
import type { DocumentFetcher } from "../metadata/document-fetcher.ts";
import { type FetchOutcome, fetchDue } from "../metadata/fetch-due.ts";
import { firstTurns, selectDue, selectOthers, selectUrgent, type Turns } from "../metadata/select-due.ts";
import { createStorageMeter, createUnpaidBudget, type StorageMeter, type UnpaidBudget } from "../metadata/storage-budget.ts";

const pollMs = 5_000;
const hourMs = 3_600_000;
const contractCooldown = { failuresUntilCooldown: 1, initialMs: hourMs / 12, maxMs: hourMs };
/** Of contracts whose documents fill the disk: in the end they may add the bytes of one pass a day. */
const storageCooldown = { failuresUntilCooldown: 1, initialMs: hourMs / 2, maxMs: 24 * hourMs };

type RefreshOptions = {
  db: Database;
  client: ChainClient;
  fetcher: DocumentFetcher;
  /** Notified when the projections have advanced. */
  changeSignal: Waker;
  now: () => Date;
  logger: Logger;
};

type RefreshState = {
  select: typeof selectDue;
  /** Log head after the last appended fact. What is due is known only once it is applied; null: before the first pass. */
  head: bigint | null;
  turns: Turns;
  meter: StorageMeter;
  unpaid: UnpaidBudget;
  cooldowns: Record<"costly" | "bulky", ReturnType<typeof createCooldowns<number>>>;
};

/**
 * Fetches metadata of a chain's new tokens and contracts, and again periodically, when contracts say that it changed and
 * when callers ask for it.
 */
export function metadataRefresh(options: RefreshOptions): Job[] {
  const now = () => options.now().getTime();
  const shared = {
    meter: createStorageMeter(),
    unpaid: createUnpaidBudget(now),
    cooldowns: {
      costly: createCooldowns<number>({ now, ...contractCooldown }),
      bulky: createCooldowns<number>({ now, ...storageCooldown }),
    },
  };
  const selections = { due: selectDue, urgent: selectUrgent, others: selectOthers };
  return Object.entries(selections).map(([selection, select]) =>
    refresh(options, selection, { ...shared, select, turns: firstTurns(), head: null }),
  );
}

function refresh(options: RefreshOptions, selection: string, state: RefreshState): Job {
  const { db, client, changeSignal, logger } = options;
  const { chainId } = client;
  return {
    name: "metadata",
    about: { chainId, selection },
    every: pollMs,
    wakesOn: changeSignal,
    reads: ["metadata", "ownership", "sales"],
    async run(signal) {
      // Waits until facts appended before this process started are applied: nothing is fetched twice.
      state.head ??= await readLogHead(db);
      if (!(await isMetadataAtLeastAt(db, state.head))) return undefined;
      const { recorded } = await fetchPass({ ...options, signal }, state);
      if (recorded === 0) return undefined;
      logger.debug({ chainId, facts: recorded }, "metadata recorded");
      return "more";
    },
  };
}

async function fetchPass(
  options: RefreshOptions & { signal: AbortSignal },
  state: RefreshState,
): Promise<FetchOutcome> {
  const { db, client } = options;
  const { meter, unpaid, cooldowns, turns } = state;
  const { costly, bulky } = cooldowns;
  const pausedContractIds = [...costly.coolingDown(), ...bulky.coolingDown(), ...unpaid.paused()];
  const filter = { chainId: client.chainId, now: options.now(), pausedContractIds };
  const due = await state.select(db, filter, turns);
  const outcome = await fetchDue({ ...options, meter, unpaid }, due);
  noteResults(options, state, outcome.results);
  if (outcome.recorded > 0) state.head = outcome.head;
  if (state.select === selectUrgent && outcome.answered.length > 0)
    await endRequests(db, client.chainId, outcome.answered);
  return outcome;
}

/** What rests for a while: contracts that cost too much, or are over a budget on the disk. */
function noteResults(
  { client: { chainId }, logger }: RefreshOptions,
  { cooldowns }: RefreshState,
  results: FetchOutcome["results"],
): void {
  for (const [contractId, result] of results) {
    if (result !== "costly") cooldowns.costly.recordSuccess(contractId);
    if (result === "served") cooldowns.bulky.recordSuccess(contractId);
    if (result === "bulky" || result === "costly") cooldowns[result].recordFailure(contractId);
    if (result === "bulky" || result === "unpaid") {
      const about = { chainId, contractId };
      logger.info(about, "metadata fetching paused, contract is over its storage budget");
    }
  }
}
