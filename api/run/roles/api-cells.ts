import type { Logger } from "pino";
import type { ChainId } from "../../../chains/index.ts";
import { projectionNames } from "../../../projections/all.ts";
import { openHashReader } from "../../background/chain/clients.ts";
import { openHeadReader } from "../../background/chain/fetch-head.ts";
import type { Market } from "../../background/orders/market/market.ts";
import { openMarket } from "../../background/orders/open-market.ts";
import { type Feeds, startFeeds } from "../../serve/feed/start-feed.ts";
import type { Cells } from "../../serve/http/reads/cells.ts";
import type { WaitOutcome } from "../../serve/http/reads/positioned-reads.ts";
import { joinStatuses } from "../../serve/status/join-statuses.ts";
import { maxLagSeconds } from "../../serve/status/limits.ts";
import { openStatusReader, type StatusReader } from "../../serve/status/status-reader.ts";
import { type Homes, watchHomes } from "./homes.ts";
import { type OpenedReads, openReads } from "./open-reads.ts";
import type { RoleCell, RoleConfig, SomeRoleCells } from "./role.ts";

const rpc = { timeoutMs: 2000, maxAgeMs: 1000, staleBlocks: 100 };

type Options = {
  readonly cells: SomeRoleCells;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly onWait: (ms: number, outcome: WaitOutcome) => void;
};

/** What the API has of one database. */
type ApiCell = {
  readonly name: string;
  readonly opened: OpenedReads;
  readonly market: Market;
  readonly feeds: Feeds;
  /** Now. */
  chains: readonly ChainId[];
  readStatus: StatusReader;
};

/** The databases of the API: each request goes to the one that serves its chain. */
export type ApiCells = {
  /** The first database. */
  readonly main: Pick<ApiCell, "opened" | "market">;
  readonly cells: Cells<{ readonly market: Market }>;
  readonly readStatus: StatusReader;
  feedsOf(chainId: ChainId): Feeds;
  figuresOfFeeds: Feeds["figures"];
  replicaStates: OpenedReads["replicaStates"];
  stopFeeds(): Promise<void>;
  close(): Promise<void>;
};

export async function openApiCells({ cells, logger, signal, onWait }: Options): Promise<ApiCells> {
  const watch = cells.length > 1 ? await watchHomes(cells, { logger, signal }) : undefined;
  const open = (cell: RoleCell): ApiCell =>
    openCell(cell, cells[0].config, { logger, onWait, chains: chainsIn(cell, watch?.current()) });
  const [first, ...rest] = cells;
  const main = open(first);
  const all = [main, ...rest.map(open)];
  // One without chains is there for those that may be moved to it.
  const serving = (): [ApiCell, ...ApiCell[]] => {
    const [one = main, ...others] = all.filter(({ chains }) => chains.length > 0);
    return [one, ...others];
  };
  const servedCell = ({ chains, opened, market }: ApiCell) => ({
    chains,
    reads: opened.reads,
    own: { market },
  });
  const cellOf = (chainId: ChainId) => all.find(({ chains }) => chains.includes(chainId)) ?? main;
  watch?.onChange(() => {
    for (const [cell, { config }] of zip(all, cells)) {
      const chains = chainsIn({ name: cell.name, config }, watch.current());
      const left = cell.chains.filter((chainId) => !chains.includes(chainId));
      if (`${chains}` === `${cell.chains}`) continue;
      cell.chains = chains;
      cell.readStatus = openStatus(config, cell.opened, { chains, logger });
      for (const chainId of left) void cell.feeds.endChain(chainId);
    }
  });
  return {
    main,
    cells: {
      all: () => {
        const [one, ...others] = serving();
        return [servedCell(one), ...others.map(servedCell)];
      },
    },
    readStatus: joinStatuses(serving),
    feedsOf: (chainId) => cellOf(chainId).feeds,
    figuresOfFeeds: () => {
      const figures = all.map(({ feeds }) => feeds.figures());
      const sum = (name: "readers" | "cut") => figures.reduce((total, one) => total + one[name], 0);
      return { readers: sum("readers"), cut: sum("cut") };
    },
    replicaStates: () => all.flatMap(({ opened }) => opened.replicaStates()),
    stopFeeds: async () => {
      await Promise.all(all.map(({ feeds }) => feeds.stop()));
    },
    async close() {
      await watch?.stop();
      await Promise.all(all.flatMap(({ opened, market }) => [opened.close(), market.close()]));
    },
  };
}

const chainsIn = ({ name, config }: RoleCell, homes: Homes | undefined): readonly ChainId[] =>
  homes?.get(name)?.serves ?? config.chains.map(({ chainId }) => chainId);

const zip = <One, Other>(some: readonly One[], others: readonly Other[]): [One, Other][] =>
  some.flatMap((one, index) => {
    const other = others[index];
    return other === undefined ? [] : [[one, other] as [One, Other]];
  });

type OpenOptions = Pick<Options, "logger" | "onWait"> & { readonly chains: readonly ChainId[] };

function openCell(
  { name, config }: RoleCell,
  /** With all chains: an endpoint may ask another chain's node. */
  all: RoleConfig,
  { logger, onWait, chains }: OpenOptions,
): ApiCell {
  const { database } = config;
  const market = openMarket({ ...all, database }, logger);
  const opened = openReads({ database, logger, written: market.writtenPosition, onWait });
  const feeds = startFeeds({ ...all, database }, opened, logger);
  const readStatus = openStatus(config, opened, { chains, logger });
  return { name, opened, market, feeds, chains, readStatus };
}

function openStatus(
  config: RoleConfig,
  { db }: OpenedReads,
  { chains, logger }: Pick<OpenOptions, "chains" | "logger">,
): StatusReader {
  return openStatusReader({
    db,
    chains: config.chains
      .filter(({ chainId }) => chains.includes(chainId))
      .map(({ chainId, rpcUrls }) => ({
        chainId,
        readHead: openHeadReader({ chainId, rpcUrls, ...rpc }),
        readHash: openHashReader({ chainId, rpcUrls, timeoutMs: rpc.timeoutMs }),
      })),
    projections: projectionNames,
    now: () => new Date(),
    logger,
    lateSeconds: maxLagSeconds,
    maxAgeMs: 500,
  });
}
