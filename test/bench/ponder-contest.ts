import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { join } from "node:path";
import { type Figure, medianFigure } from "./figure.ts";
import type { Load, LoadFigures, LoadRequest } from "./ponder-load.ts";
import { processorMs } from "./ponder-processor.ts";

const ROUNDS = 5;
const connections = 16;

export type Server = { baseUrl: string; pid: number };

type Asked = Omit<Load, "connections" | "seconds"> & { pid: number };

/** The same lists of both, and what the answers have in common. */
export type Contest = {
  name: string;
  ours: Asked;
  ponder: Asked;
  read: Record<"ours" | "ponder", (body: unknown) => Seen>;
};

export type Seen = { total: number; tokenIds: string[] };

/** `kept`: the same address again; `unchanged`: answered with 304. */
type Side = "ours" | "ponder" | "kept" | "unchanged";
export type Loading = { loader: ChildProcess; postmaster: number };
type Terms = { seconds: number; isKeptToo: boolean };

/** Processor time in milliseconds, of the server and of PostgreSQL. */
type Measured = LoadFigures & { serverMs: number; databaseMs: number };

/** A process that asks on behalf of the benchmark, while `work` is done. */
export async function withLoader<Result>(
  work: (loader: ChildProcess) => Promise<Result>,
): Promise<Result> {
  const loader = fork(join(import.meta.dirname, "ponder-load.ts"), {
    execArgv: ["--import", "tsx"],
  });
  try {
    return await work(loader);
  } finally {
    loader.disconnect();
  }
}

/** Both asked in turns. Throws where the answers do not agree. */
export async function holdContest(
  contest: Contest,
  loading: Loading,
  { seconds, isKeptToo }: Terms,
): Promise<Figure[]> {
  const size = await agree(contest);
  const { ours, ponder } = contest;
  const made: [Side, Asked][] = [
    ["ours", { ...ours, isVaried: true }],
    ["ponder", ponder],
  ];
  const sides = isKeptToo ? [...made, ...(await keptSides(ours))] : made;
  const measured: Record<Side, Measured[]> = { ours: [], ponder: [], kept: [], unchanged: [] };
  for (const [, asked] of sides) await put(loading, asked, 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [side, asked] of sides) measured[side].push(await put(loading, asked, seconds));
  }
  const told = `${size}, ${connections} connections, load ${loadavg()[0]?.toFixed(1)}`;
  return figuresOf(contest.name, measured, told);
}

/** Of several addresses the first, whose answer is kept all the time. */
async function keptSides(ours: Asked): Promise<[Side, Asked][]> {
  const one = { ...ours, requests: ours.requests.slice(0, 1) };
  const [request = nowhere] = one.requests;
  const etag = (await ask(one, request)).headers.get("etag") ?? "";
  return [
    ["kept", one],
    ["unchanged", { ...one, headers: { "if-none-match": etag } }],
  ];
}

const nowhere: LoadRequest = { path: "/" };

const rateOf = ({ requests, tookMs }: Measured) => requests / (tookMs / 1_000);
const usedOf = ({ requests, serverMs, databaseMs }: Measured) => (serverMs + databaseMs) / requests;
const frugalityOf = (one: Measured) => 1 / usedOf(one);

const labels = [
  ["ours", "ours"],
  ["ponder", "GraphQL"],
  ["kept", "ours, kept"],
  ["unchanged", "ours, 304"],
] as const;

function figuresOf(name: string, measured: Record<Side, Measured[]>, told: string): Figure[] {
  const ratios = (side: Side, value: (one: Measured) => number) =>
    measured[side].map((one, round) => {
      const theirs = measured.ponder[round];
      return theirs === undefined ? Number.NaN : value(one) / value(theirs);
    });
  const goal = { unit: "ratio", atLeast: 3 } as const;
  const against = [
    ["ours", `ponder, ${name}`],
    ["kept", `ponder, ${name}, kept`],
    ["unchanged", `ponder, ${name}, 304`],
  ] as const;
  const ofPonder = against
    .filter(([side]) => measured[side].length > 0)
    .flatMap(([side, what]) => [
      medianFigure(`${what}, of Ponder's GraphQL`, ratios(side, rateOf), goal, told),
      medianFigure(
        `${what}, by processor time`,
        ratios(side, frugalityOf),
        { unit: "ratio" },
        told,
      ),
    ]);
  const ofSides = labels
    .filter(([side]) => measured[side].length > 0)
    .flatMap(([side, label]) => sideFigures(`ponder, ${name}, ${label}`, measured[side], told));
  return [...ofPonder, ...ofSides];
}

function sideFigures(name: string, measured: readonly Measured[], told: string): Figure[] {
  const size = `${told}; ${measured[0]?.bytes} B an answer`;
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

async function put(
  { loader, postmaster }: Loading,
  { pid, ...asked }: Asked,
  seconds: number,
): Promise<Measured> {
  const before = { server: processorMs(pid), database: processorMs(postmaster) };
  loader.send({ ...asked, connections, seconds } satisfies Load);
  const [figures] = (await once(loader, "message")) as [LoadFigures];
  const wrong = figures.statuses.filter((status) => status !== 200 && status !== 304);
  if (wrong.length > 0) throw new Error(`${asked.baseUrl} answered ${wrong}`);
  return {
    ...figures,
    serverMs: processorMs(pid) - before.server,
    databaseMs: processorMs(postmaster) - before.database,
  };
}

/** Throws unless both tell the same tokens in the same order, and the same total, of every address. */
async function agree({ name, ours, ponder, read }: Contest): Promise<string> {
  const seen = new Map<string, Seen>();
  for (const [place, request] of ours.requests.entries()) {
    if (seen.has(request.path)) continue;
    const own = read.ours(await (await ask(ours, request)).json());
    const theirs = read.ponder(await (await ask(ponder, ponder.requests[place] ?? nowhere)).json());
    if (own.total !== theirs.total || own.tokenIds.join() !== theirs.tokenIds.join()) {
      throw new Error(`${name}: ${JSON.stringify(own)} is not ${JSON.stringify(theirs)}`);
    }
    seen.set(request.path, own);
  }
  return rowsOf([...seen.values()]);
}

function rowsOf(seen: readonly Seen[]): string {
  const [rows, totals] = [
    seen.map(({ tokenIds }) => tokenIds.length),
    seen.map((one) => one.total),
  ];
  const [least, most] = [Math.min(...totals), Math.max(...totals)];
  const total = least === most ? `${most}` : `${least} to ${most}`;
  const lists = seen.length === 1 ? "" : `${seen.length} lists, `;
  return `${lists}${Math.max(...rows)} of ${total} rows`;
}

async function ask({ baseUrl }: Asked, { path, body }: LoadRequest): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return await fetch(
    `${baseUrl}${path}`,
    body === undefined ? {} : { method: "POST", body, headers },
  );
}
