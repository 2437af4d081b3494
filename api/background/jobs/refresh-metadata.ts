import { setMaxListeners } from "node:events";
import type { Logger } from "pino";
import type { Database } from "../../../projections/database.ts";
import { readLogHead } from "../../../projections/log/read-log-head.ts";
import { isMetadataAtLeastAt } from "../../../projections/reads/metadata/read-due-metadata.ts";
import { endRequests } from "../../../projections/reads/metadata/requests.ts";
import type { ChainClient } from "../chain/clients.ts";
import { backOff } from "../log-signal/back-off.ts";
import { logFailure } from "../log-signal/log-failure.ts";
import type { Signal } from "../log-signal/signal.ts";
import { createCooldowns } from "../metadata/cooldowns.ts";
import type { DocumentFetcher } from "../metadata/document-fetcher.ts";
import { type FetchOutcome, fetchDue } from "../metadata/fetch-due.ts";
import {
  firstTurns,
  selectDue,
  selectOthers,
  selectUrgent,
  type Turns,
} from "../metadata/select-due.ts";
import {
  createStorageMeter,
  createUnpaidBudget,
  type StorageMeter,
  type UnpaidBudget,
} from "../metadata/storage-budget.ts";

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
  changeSignal: Pick<Signal, "wait">;
  now: () => Date;
  logger: Logger;
  signal: AbortSignal;
};

type RefreshState = {
  select: typeof selectDue;
  /** Log head after the last appended fact. What is due is known only once it is applied. */
  head: bigint;
  turns: Turns;
  meter: StorageMeter;
  unpaid: UnpaidBudget;
  cooldowns: Record<"costly" | "bulky", ReturnType<typeof createCooldowns<number>>>;
};

/**
 * Fetches metadata of a chain's new tokens and contracts, and again periodically, when contracts say that it changed and
 * when callers ask for it.
 */
export async function runMetadataRefresh(options: RefreshOptions): Promise<void> {
  setMaxListeners(0, options.signal);
  const now = () => options.now().getTime();
  // Waits until facts appended before this process started are applied: nothing is fetched twice.
  const common: Omit<RefreshState, "select" | "turns"> = {
    head: await readLogHead(options.db),
    meter: createStorageMeter(),
    unpaid: createUnpaidBudget(now),
    cooldowns: {
      costly: createCooldowns({ now, ...contractCooldown }),
      bulky: createCooldowns({ now, ...storageCooldown }),
    },
  };
  const selections = [selectDue, selectUrgent, selectOthers];
  await Promise.all(
    selections.map((select) => refresh(options, { ...common, select, turns: firstTurns() })),
  );
}

async function refresh(options: RefreshOptions, state: RefreshState): Promise<void> {
  const { changeSignal, signal } = options;
  let failures = 0;
  while (!signal.aborted) {
    const recorded = await refreshOnce(options, state);
    failures = recorded === null ? failures + 1 : 0;
    if (failures > 0) await backOff(failures, signal);
    else if (recorded === 0) await changeSignal.wait(pollMs, signal);
  }
}

/** Facts that were recorded; null: the chain's RPC or the database failed. */
async function refreshOnce(options: RefreshOptions, state: RefreshState): Promise<number | null> {
  const { db, client, logger } = options;
  const { chainId } = client;
  try {
    if (!(await isMetadataAtLeastAt(db, state.head))) return 0;
    const { recorded } = await fetchPass(options, state);
    if (recorded > 0) logger.debug({ chainId, facts: recorded }, "metadata recorded");
    return recorded;
  } catch (error) {
    logFailure(logger, { chainId }, error, "fetching metadata failed, retrying");
    return null;
  }
}

async function fetchPass(options: RefreshOptions, state: RefreshState): Promise<FetchOutcome> {
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
