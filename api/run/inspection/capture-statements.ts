import { type Database, openDatabase } from "#projections/log/database.ts";
import { isRejection } from "#projections/domain/rejection.ts";
import { applyWindow, handlesAny } from "#projections/engine/tick.ts";
import { readCheckpoints, type Target } from "#projections/engine/checkpoint.ts";
import { openWindow } from "#projections/engine/fact-window.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import { readLogHead } from "#projections/log/blocks.ts";
import type { Context, V1Route } from "#api/v1/context.ts";

/** Statements in the order in which they were first sent, each once, with `$1` for values. */
export type Statements = readonly string[];

/** Ends a transaction whose work is not to stay. */
class Undone extends Error {}

/** What a projection sends to apply a window in which nothing changed. */
export async function captureApply(url: string, target: Target): Promise<Statements> {
  return await capture(url, async (db, begin) => {
    const head = await readLogHead(db);
    const kinds = new Set(Object.values(factKind).filter((kind) => isHandled(target, kind)));
    const applying = db.transaction().execute(async (session) => {
      const window = await openWindow(session, { after: head, upTo: head });
      const checkpoints = await readCheckpoints(session);
      begin();
      const open = { checkpoints, entries: [], window: { ...window, kinds } };
      await applyWindow(session, target, open);
      throw new Undone();
    });
    await applying.catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
  });
}

const isHandled = ({ projection }: Target, kind: number): boolean =>
  handlesAny(projection, new Set([kind]));

/** What a request of `/v1` sends. Throws with the reason when the route refuses it. */
export async function captureRequest(
  url: string,
  { route, params, query }: V1Request,
  contextOf: (db: Database) => Context,
): Promise<Statements> {
  return await capture(url, async (db, begin) => {
    begin();
    const input = { params, query, body: undefined, address: "127.0.0.1", key: null };
    const answer = await route.answer(input, contextOf(db));
    if (isRejection(answer) && answer.rejected !== "not_found") throw new Error(answer.message);
  });
}

export type V1Request = {
  readonly route: V1Route;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
};

/** The route that answers a path with its query; undefined: there is none that only reads. */
export function findRequest(routes: readonly V1Route[], address: string): V1Request | undefined {
  const { pathname, searchParams } = new URL(address, "http://api");
  for (const route of routes) {
    if (route.method !== "get") continue;
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
    const match = new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, "([^/]+)")}$`).exec(pathname);
    if (match === null) continue;
    const params = Object.fromEntries(names.map((name, nth) => [name, match[nth + 1] ?? ""]));
    return { route, params, query: Object.fromEntries(searchParams) };
  }
  return undefined;
}

/** Statements from `begin` on, but those that begin and end transactions. */
async function capture(
  url: string,
  work: (db: Database, begin: () => void) => Promise<void>,
): Promise<Statements> {
  const statements = new Set<string>();
  let isBegun = false;
  const onStatement = (text: string) => {
    if (isBegun && !/^\s*(begin|commit|rollback)\b/i.test(text)) statements.add(text);
  };
  // One connection: what is sent at a time comes in one order.
  const options = { url, applicationName: "op sql", max: 1, onIdleError: () => {} };
  const db = openDatabase({ ...options, onStatement });
  try {
    await work(db, () => {
      isBegun = true;
    });
  } finally {
    await db.destroy();
  }
  return [...statements];
}
