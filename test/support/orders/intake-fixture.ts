import { pino } from "pino";
import { z } from "zod";
import { createApp } from "#api/app.ts";
import { openProjectionWaiter } from "#api/orders/open-market.ts";
import type { ChainId } from "#chains/index.ts";
import { projecting } from "#jobs/recording/project.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { createSignal } from "#jobs/runner/signals.ts";
import { allProjections } from "#projections/all.ts";
import type { OrderQuotas } from "#projections/domain/orders/order-quotas.ts";
import type { OrderComponents, SignedOrder } from "#projections/domain/seaport/order-components.ts";
import {
  exchangeDomain,
  orderHash,
  signingDigest,
} from "#projections/domain/seaport/order-hash.ts";
import type { Database } from "#projections/log/database.ts";
import { type IndexedEvents, recordChain } from "../chain/chain-facts.ts";
import { type Market, openMarket } from "../chain/market.ts";
import { type RpcProxy, startRpcProxy } from "../chain/rpc-proxy.ts";
import { createProjections } from "../database/given.ts";
import { createDatabase } from "../database/postgres.ts";
import { type ApiClient, serve } from "../http/openapi.ts";
import { openTestMarket, testFee } from "./test-market.ts";

/** A stocked local chain, its facts and projections, and the API that accepts orders. */
export type IntakeFixture = {
  chainId: ChainId;
  market: Market;
  db: Database;
  databaseUrl: string;
  /** The RPC proxy that the API uses. */
  node: RpcProxy;
  api: ApiClient;
  /** Every answer must match the OpenAPI document. */
  post(path: string, body: unknown): Promise<Answer>;
  /** Records and projects what was mined since. */
  record(): Promise<void>;
  close(): Promise<void>;
};

const Envelope = z.looseObject({
  success: z.boolean(),
  code: z.string().optional(),
  message: z.string().optional(),
  retry: z.string().optional(),
  data: z.any().optional(),
});
type Answer = z.output<typeof Envelope> & { status: number };

export async function openIntakeFixture(
  chainId: ChainId,
  indexed: Partial<IndexedEvents> = {},
  quotas: Partial<OrderQuotas> = {},
): Promise<IntakeFixture> {
  const [database, market] = await Promise.all([
    createDatabase({ template: "projected" }),
    openMarket({ chainId, stocked: true }),
  ]);
  const { db, url } = database;
  const logger = pino({ level: "warn" });
  await recordChain(db, market.anvil, indexed);
  const projections = allProjections({ feeRecipient: testFee.recipient });
  const targets = await createProjections(db, projections);
  const node = await startRpcProxy(market.anvil.rpcUrl);
  const waiter = openProjectionWaiter({ db, url, logger });
  const ending = new AbortController();
  const { signal } = ending;
  const wake = createSignal();
  const job = projecting({
    db,
    targets,
    logger,
    changeSignal: wake,
    holds: () => true,
    onTick: () => {},
  });
  const work = runJobs(job, { logger, signal });
  const bell = setInterval(wake.notify, 20);
  const context = {
    db,
    siteUrl: "https://site.example.test",
    chains: [chainId],
    readStatus: () => Promise.reject(new Error("the status is not used in this test")),
    market: openTestMarket(db, { [chainId]: node.url }, waiter.waitFor, [], quotas),
    now: () => new Date(),
  };
  const api = await serve(createApp({ context, baseUrl: "https://api.example.test", logger }));
  return {
    chainId,
    market,
    db,
    databaseUrl: url,
    node,
    api,
    async post(path, body) {
      const { status, body: answer } = await api.post(path, body);
      return { ...Envelope.parse(answer), status };
    },
    async record() {
      const { head } = await recordChain(db, market.anvil, indexed);
      await waiter.waitFor(head);
    },
    async close() {
      clearInterval(bell);
      ending.abort();
      await Promise.all([api.close(), waiter.stop(), work, node.close()]);
      await Promise.all([database.drop(), market.stop()]);
    },
  };
}

/** The JSON form that clients send: integers as decimal strings. */
export function toWire(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, one) => (typeof one === "bigint" ? one.toString() : one)),
  );
}

export function wireOrder({ components, signature }: SignedOrder): Record<string, unknown> {
  return { parameters: toWire(components), signature };
}

/** Signs changed components. */
export async function resign(
  chainId: ChainId,
  account: { sign?: (given: { hash: `0x${string}` }) => Promise<`0x${string}`> },
  components: OrderComponents,
): Promise<SignedOrder> {
  if (account.sign === undefined) throw new TypeError("the account cannot sign");
  const hash = signingDigest(orderHash(components), exchangeDomain(chainId));
  return { components, signature: await account.sign({ hash }) };
}
