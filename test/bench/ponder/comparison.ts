import type { ChildProcess } from "node:child_process";
import { loadavg } from "node:os";
import { type Figure, medianFigure } from "../figure.ts";
import type { Load, LoadFigures, LoadRequest } from "./load.ts";
import { openLoader, runLoad } from "./loader.ts";
import { processorMs } from "./processor.ts";

const ROUNDS = 5;
const connections = 16;

export type Server = { baseUrl: string; pid: number };

type Target = Omit<Load, "connections" | "seconds"> & { pid: number };

/** The same lists on both servers, and how to read their answers. */
export type Comparison = {
  name: string;
  /** Requests per second of ours, made for each request, divided by GraphQL's. */
  goal: number;
  ours: Target;
  ponder: Target;
  read: Record<"ours" | "ponder", (body: unknown) => ListSummary>;
};

export type ListSummary = { total: number; ids: string[] };

/** `cached`: the same URL repeatedly; `unchanged`: answered with 304. */
type Side = "ours" | "ponder" | "cached" | "unchanged";
export type Loading = { loader: ChildProcess; postmaster: number };
type Terms = { seconds: number; measuresCached: boolean };

/** Processor time in milliseconds, of the server and of PostgreSQL. */
type Measured = LoadFigures & { serverMs: number; databaseMs: number };

/** Runs `work` with a process that sends the requests. */
export async function withLoader<Result>(
  work: (loader: ChildProcess) => Promise<Result>,
): Promise<Result> {
  const loader = openLoader();
  try {
    return await work(loader);
  } finally {
    loader.disconnect();
  }
}

/** Measures both in turn. Throws when their answers differ. */
export async function compareServers(
  comparison: Comparison,
  loading: Loading,
  { seconds, measuresCached }: Terms,
): Promise<Figure[]> {
  const size = await checkEqual(comparison);
  const { ours, ponder } = comparison;
  const always: [Side, Target][] = [
    ["ours", { ...ours, isVaried: true }],
    ["ponder", ponder],
  ];
  const sides = measuresCached ? [...always, ...(await cachedTargets(ours))] : always;
  const measured: Record<Side, Measured[]> = { ours: [], ponder: [], cached: [], unchanged: [] };
  for (const [, target] of sides) await measureLoad(loading, target, 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [side, target] of sides)
      measured[side].push(await measureLoad(loading, target, seconds));
  }
  const conditions = `${size}, ${connections} connections, load ${loadavg()[0]?.toFixed(1)}`;
  return figuresOf(comparison, measured, conditions);
}

/** The first URL only, so that its answer stays cached. */
async function cachedTargets(ours: Target): Promise<[Side, Target][]> {
  const one = { ...ours, requests: ours.requests.slice(0, 1) };
  const [request = noRequest] = one.requests;
  const etag = (await send(one, request)).headers.get("etag") ?? "";
  return [
    ["cached", one],
    ["unchanged", { ...one, headers: { "if-none-match": etag } }],
  ];
}

const noRequest: LoadRequest = { path: "/" };

const rateOf = ({ requests, tookMs }: Measured) => requests / (tookMs / 1_000);
const usedOf = ({ requests, serverMs, databaseMs }: Measured) => (serverMs + databaseMs) / requests;
const efficiencyOf = (one: Measured) => 1 / usedOf(one);

const labels = [
  ["ours", "ours"],
  ["ponder", "GraphQL"],
  ["cached", "ours, kept"],
  ["unchanged", "ours, 304"],
] as const;

function figuresOf(
  { name, goal: atLeast }: Comparison,
  measured: Record<Side, Measured[]>,
  conditions: string,
): Figure[] {
  const ratios = (side: Side, value: (one: Measured) => number) =>
    measured[side].map((one, round) => {
      const theirs = measured.ponder[round];
      return theirs === undefined ? Number.NaN : value(one) / value(theirs);
    });
  const against = [
    ["ours", `ponder, ${name}`, atLeast],
    ["cached", `ponder, ${name}, kept`, 3],
    ["unchanged", `ponder, ${name}, 304`, 3],
  ] as const;
  const ofPonder = against
    .filter(([side]) => measured[side].length > 0)
    .flatMap(([side, what, atLeast]) => [
      medianFigure(
        `${what}, of Ponder's GraphQL`,
        ratios(side, rateOf),
        { unit: "ratio", atLeast },
        conditions,
      ),
      medianFigure(
        `${what}, by processor time`,
        ratios(side, efficiencyOf),
        { unit: "ratio" },
        conditions,
      ),
    ]);
  const ofSides = labels
    .filter(([side]) => measured[side].length > 0)
    .flatMap(([side, label]) =>
      sideFigures(`ponder, ${name}, ${label}`, measured[side], conditions),
    );
  return [...ofPonder, ...ofSides];
}

function sideFigures(name: string, measured: readonly Measured[], conditions: string): Figure[] {
  const size = `${conditions}; ${measured[0]?.bytes} B an answer`;
  const ms = (what: string, value: (one: Measured) => number) =>
    medianFigure(`${name}${what}`, measured.map(value), { unit: "ms" }, size);
  return [
    medianFigure(name, measured.map(rateOf), { unit: "requests/s" }, size),
    ms(", p50", ({ p50Ms }) => p50Ms),
    ms(", p99", ({ p99Ms }) => p99Ms),
    ms(", processor", usedOf),
    ms(", of it Node", ({ requests, serverMs }) => serverMs / requests),
  ];
}

async function measureLoad(
  { loader, postmaster }: Loading,
  { pid, ...target }: Target,
  seconds: number,
): Promise<Measured> {
  const before = { server: processorMs(pid), database: processorMs(postmaster) };
  const figures = await runLoad(loader, { ...target, connections, seconds }, [200, 304]);
  return {
    ...figures,
    serverMs: processorMs(pid) - before.server,
    databaseMs: processorMs(postmaster) - before.database,
  };
}

/** Throws unless both return the same tokens in the same order and the same total for every URL. */
async function checkEqual({ name, ours, ponder, read }: Comparison): Promise<string> {
  const summaries = new Map<string, ListSummary>();
  for (const [index, request] of ours.requests.entries()) {
    if (summaries.has(request.path)) continue;
    const own = read.ours(await (await send(ours, request)).json());
    const theirs = read.ponder(
      await (await send(ponder, ponder.requests[index] ?? noRequest)).json(),
    );
    if (own.total !== theirs.total || own.ids.join() !== theirs.ids.join()) {
      throw new Error(`${name}: ${JSON.stringify(own)} is not ${JSON.stringify(theirs)}`);
    }
    summaries.set(request.path, own);
  }
  return rowsOf([...summaries.values()]);
}

function rowsOf(summaries: readonly ListSummary[]): string {
  const [rows, totals] = [
    summaries.map(({ ids }) => ids.length),
    summaries.map((one) => one.total),
  ];
  const [least, most] = [Math.min(...totals), Math.max(...totals)];
  const total = least === most ? `${most}` : `${least} to ${most}`;
  const lists = summaries.length === 1 ? "" : `${summaries.length} lists, `;
  return `${lists}${Math.max(...rows)} of ${total} rows`;
}

async function send({ baseUrl }: Target, { path, body }: LoadRequest): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return await fetch(
    `${baseUrl}${path}`,
    body === undefined ? {} : { method: "POST", body, headers },
  );
}
