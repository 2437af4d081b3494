import { sql } from "kysely";
import { readCopyProgress } from "#projections/analytics/copy-source.ts";
import { readAnalysts, readPowers } from "#projections/analytics/roles.ts";
import { findDrift, isCurrent } from "#projections/engine/checkpoint.ts";
import type { Projection } from "#projections/engine/projection.ts";
import {
  describeExcludedFacts,
  factsPendingReplay,
  readExcludedFacts,
  readQuarantineState,
} from "#projections/engine/quarantine.ts";
import { readUnfinishedRebuilds, shadowSchemas } from "#projections/engine/shadow-schema.ts";
import {
  describeNodeFault,
  readHistoryState,
  readNodeFaults,
} from "#projections/log/chain-state.ts";
import { readContractsWithoutTransfers } from "#projections/log/contracts.ts";
import type { Database } from "#projections/log/database.ts";
import { readJobFigures } from "#projections/log/operators.ts";
import { pendingMigrations } from "#projections/log/schema.ts";
import { haveIndexersCaughtUp } from "#projections/log/sources.ts";
import { schemaOf } from "#projections/log/versions.ts";
import { readHeldFees } from "#projections/partners/sync-fees.ts";
import { type ChainConfig, isLoopback } from "../config/config.ts";
import type { AnalyticsConfig } from "../config/database-settings.ts";
import { namedCollections } from "../ponder/plain-transfers.ts";
import { readDatabaseRoles } from "../postgres/database-roles.ts";
import { findWrongRights } from "../postgres/rights.ts";
import {
  checkDisk,
  checkPooler,
  checkReplicas,
  checkServer,
  type Finding,
} from "./find-server-problems.ts";
import { configuredProjections, type InspectedConfig } from "./inspected-config.ts";
import { megabytes } from "./present-fact.ts";
import { type FetchChainHead, fetchChainHead } from "./read-status.ts";
import { findStaleSchemas } from "./stale-schemas.ts";

/** Checks database, nodes, tables and disk: what `op doctor` reports. */
export async function findProblems(
  db: Database,
  config: InspectedConfig,
  fetchHead: FetchChainHead = fetchChainHead,
): Promise<Finding[]> {
  const nodes = config.chains.map((chain) => checkNodes(chain, fetchHead));
  const general = [
    ...(await checkServer(db)),
    ...(await checkDisk(config)),
    ...(await checkAddress(config)),
    ...checkMetrics(config),
    ...(await checkReplicas(db, config.database)),
    ...(await Promise.all(nodes)).flat(),
  ];
  const pending = await pendingMigrations(db);
  if (pending.length > 0) {
    const advice = "run op migrate, or start the service";
    return [...general, fault("migrations", `the database lacks ${pending.join(", ")}`, advice)];
  }
  // Without a chain nothing is derived.
  const projections = config.chains.length === 0 ? [] : configuredProjections(config);
  const mayCreate = await mayCreateSchemas(db);
  const checked = await Promise.all(
    projections.map((one) => checkProjection(db, one, { comparesTables: mayCreate })),
  );
  return [
    ...general,
    ...checked.flat(),
    ...(await checkExcludedFacts(db)),
    ...(await checkReading(db, config)),
    ...(await checkJobs(db)),
    ...(await checkCollections(db, config)),
    ...(await checkHeldFees(db)),
    ...(await checkRoles(db)),
    ...(await checkAnalysts(db)),
    ...(await checkAnalyticsCopy(db, config.analytics)),
    ...(await checkSchemas(db, config, projections)),
  ];
}

/** Where others reach PORT, it does not serve them. */
function checkMetrics({ http: { host, metricsPort } }: InspectedConfig): Finding[] {
  if (isLoopback(host) || metricsPort !== null) return [];
  const finding = "served nowhere by an API that runs alone, since HOST is not loopback";
  return [{ about: "metrics", isFault: false, finding, advice: "set METRICS_PORT" }];
}

async function checkAddress({ database: { url, poolerUrl } }: InspectedConfig): Promise<Finding[]> {
  return url === null ? [] : await checkPooler({ url, poolerUrl });
}

async function checkNodes(chain: ChainConfig, fetchHead: FetchChainHead): Promise<Finding[]> {
  const { chainId, rpcUrls } = chain;
  const about = `chain ${chainId}`;
  if (rpcUrls.length === 0) {
    return [note(about, "its local node is not running", "npm start starts it")];
  }
  const { head, faults } = await fetchHead(chain);
  return faults.map(({ message }) => ({
    about,
    isFault: head === null,
    finding: message,
    advice: `check RPC_URL_${chainId}`,
  }));
}

/** What the indexer's readers of the chains wait for, and where the log still differs from a chain. */
async function checkReading(db: Database, { chains }: InspectedConfig): Promise<Finding[]> {
  const findings = chains.map(async ({ chainId }) => {
    const faults = await readNodeFaults(db, chainId);
    const history = await readHistoryState(db, chainId);
    const differing = history?.unrepaired ?? 0;
    return [
      ...faults.map((one) =>
        note(`chain ${chainId}`, describeNodeFault(one), `check RPC_URL_${chainId}`),
      ),
      ...(differing === 0
        ? []
        : [
            fault(
              `chain ${chainId}`,
              `the log differs from the chain in ${differing} blocks`,
              `op audit ${chainId} --repair`,
            ),
          ]),
    ];
  });
  return (await Promise.all(findings)).flat();
}

/** A job that fails is tried again within a minute; one that did not is of a process that is gone. */
const jobSeconds = 300;

async function checkJobs(db: Database): Promise<Finding[]> {
  const since = Date.now() - jobSeconds * 1_000;
  return (await readJobFigures(db)).flatMap(({ name, part, failure, startedAt }) =>
    failure === null || startedAt.getTime() < since
      ? []
      : [
          note(
            `job ${name} ${part}`.trim(),
            `failed: ${failure}`,
            "it is tried again; see its log",
          ),
        ],
  );
}

/** Contracts that configuration names, and of which the log holds no transfer once the chain's indexers have caught up. */
async function checkCollections(
  db: Database,
  { chains, curated }: InspectedConfig,
): Promise<Finding[]> {
  const findings = chains.map(async (chain) => {
    const named = namedCollections(chain, curated).map(({ address }) => address);
    const isCaughtUp = await haveIndexersCaughtUp(db, chain.chainId);
    const silent = isCaughtUp ? await readContractsWithoutTransfers(db, chain.chainId, named) : [];
    return silent.map((address) =>
      note(
        `chain ${chain.chainId}`,
        `no transfer of ${address} can be decoded: it is no token contract, or emits another shape of Transfer`,
        `check COLLECTIONS_${chain.chainId} and curated.json`,
      ),
    );
  });
  return (await Promise.all(findings)).flat();
}

/** Tables are compared with others that are made for it: the console's user may make none. */
async function mayCreateSchemas(db: Database): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select has_database_privilege(current_database(), 'CREATE') as may`.execute(db);
  return rows[0]?.may === true;
}

async function checkProjection(
  db: Database,
  projection: Projection,
  { comparesTables }: { comparesTables: boolean },
): Promise<Finding[]> {
  const { name } = projection;
  const aside = await readQuarantineState(db);
  const stored = aside.checkpoints.get(schemaOf(name));
  if (stored === undefined) return [note(name, "has no tables yet", "the projector creates them")];
  if (!isCurrent(stored, projection)) {
    const finding = `holds rows of version ${stored.version} or of other parameters`;
    return [fault(name, finding, `op rebuild ${name}, or start the projector again`)];
  }
  const owes = factsPendingReplay(projection, aside).map(
    (fact) => `still excludes fact ${fact}, which was released`,
  );
  const drift = comparesTables ? await findDrift(db, projection) : [];
  return [...owes, ...drift].map((finding) => fault(name, finding, `op rebuild ${name}`));
}

/** Rows are missing there, so something is not right. */
async function checkExcludedFacts(db: Database): Promise<Finding[]> {
  const advice =
    "op quarantine list shows the errors; op quarantine release, once the cause is fixed";
  return (await readExcludedFacts(db)).map((one) =>
    fault(one.projection, describeExcludedFacts(one), advice),
  );
}

/** Sellers go on paying what counted before. */
async function checkHeldFees(db: Database): Promise<Finding[]> {
  const held = await readHeldFees(db);
  if (held.length === 0) return [];
  const finding = `${held.length} creator fees of partners wait for a decision`;
  return [fault("royalties", finding, "op royalties list, then op royalties accept or refuse")];
}

/** Each process's database user has the least rights. */
async function checkRoles(db: Database): Promise<Finding[]> {
  const roles = await readDatabaseRoles(db);
  if (roles === null) return [];
  const wrong = await findWrongRights(db, roles);
  return wrong.map(({ role, finding }) =>
    fault(
      `role ${role}`,
      finding,
      "op roles grant, or an administrator runs what op roles sql prints",
    ),
  );
}

async function checkAnalysts(db: Database): Promise<Finding[]> {
  const advice =
    "op analysts grant takes what this user may take; the rest needs a superuser, or a replica";
  const roles = await readAnalysts(db);
  const powers = await Promise.all(roles.map((role) => readPowers(db, role)));
  return roles.flatMap((role, index) =>
    (powers[index] ?? []).map((power) => fault(`analyst ${role}`, `may ${power}`, advice)),
  );
}

async function checkSchemas(
  db: Database,
  config: InspectedConfig,
  projections: readonly Projection[],
): Promise<Finding[]> {
  const unfinished = await readUnfinishedRebuilds(db, projections);
  const stale = await findStaleSchemas(db, config, projections);
  return [
    ...unfinished.map(({ name, progress, command }) =>
      note(name, `${shadowSchemas(name).next} ${progress}`, `${command} goes on with it`),
    ),
    ...stale.map(({ schema, bytes, why }) =>
      note(schema, `${megabytes(Number(bytes))}, ${why}`, "op prune --yes drops it"),
    ),
  ];
}

function fault(about: string, finding: string, advice: string): Finding {
  return { about, isFault: true, finding, advice };
}

function note(about: string, finding: string, advice: string): Finding {
  return { about, isFault: false, finding, advice };
}

/** Intervals after which a sync is late. */
const lateIntervals = 10;

/** A copy in ClickHouse whose syncs fail, or do not happen. */
async function checkAnalyticsCopy(
  db: Database,
  { clickhouseUrl, intervalSeconds }: AnalyticsConfig,
): Promise<Finding[]> {
  const copy = clickhouseUrl === null ? null : await readCopyProgress(db);
  if (copy === null) return [];
  const { error, syncedAt, behind } = copy;
  const about = "copy in ClickHouse";
  if (error !== null) {
    const advice = "op analytics sync tries again and says more";
    return [{ about, isFault: true, finding: `its last sync failed: ${error}`, advice }];
  }
  const lateMs = lateIntervals * intervalSeconds * 1_000;
  if (behind === 0n || (syncedAt !== null && Date.now() - syncedAt.getTime() < lateMs)) return [];
  const finding = `is ${behind} facts behind, last synced ${syncedAt?.toISOString() ?? "never"}`;
  return [{ about, isFault: false, finding, advice: "the jobs process syncs it: is it running?" }];
}
